"""Which rows of a long table are worth a closer look, found without grouping it.

N = rows. Each row becomes one number made of a hash of its cell, its K and its score; sorted, the
rows of a cell are neighbours. Two cells of one hash make each other suspect at worst: where the
scores of both together never fall, neither falls.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

__all__ = ["has_doubles", "suspect_rows"]

_K = "k"
_SCORE_BITS = np.uint64(30)
_NUM_SCORES = np.uint64(2**30 - 1)  # 0 is for rows without a score


def has_doubles(frame: pl.DataFrame, keys: Sequence[str]) -> bool:
    """Whether two rows may agree in all keys; rarely wrong where it says so, never where not."""
    return frame.select(keys).hash_rows().n_unique() < len(frame)


def suspect_rows(frame: pl.DataFrame, cell: Sequence[str], score: str) -> pl.DataFrame:
    """All rows of every cell in which a K stands twice, or a score falls from one K to the next.

    A fall by less than a billionth of the range of all scores is taken for rounding.

    Args:
        frame: a table with a numeric column ``k``; rows without a score fall nowhere.
        cell: the columns that, with ``k``, name one row.
        score: the column of Recall@K, finite or null.

    Returns:
        Rows of the frame in their order; usually none.
    """
    if frame.is_empty():
        return frame
    ks = frame[_K].unique().sort()
    k_bits = np.uint64(max(1, (len(ks) - 1).bit_length()))
    cells_N = frame.select(cell).hash_rows().to_numpy() >> (k_bits + _SCORE_BITS)
    k_th_N = frame[_K].replace_strict(ks, range(len(ks)), return_dtype=pl.UInt64).to_numpy()
    places_N = (cells_N << k_bits) | k_th_N
    keys_N = np.sort((places_N << _SCORE_BITS) | _whole_scores(frame[score]))
    suspects = pl.Series(np.union1d(_doubled(keys_N), _falling(keys_N, k_bits)) >> k_bits)
    if suspects.is_empty():
        return frame.clear()
    return frame.filter(pl.Series(cells_N).is_in(suspects.unique().implode()))


def _whole_scores(scores: pl.Series) -> NDArray[np.uint64]:
    """1 to a billion from the smallest to the largest; 0 where there is none."""
    low, high = scores.min(), scores.max()
    if low is None or low == high:
        return scores.is_not_null().cast(pl.UInt64).to_numpy()
    shares = (scores - low) / (scores - low).max()
    return (shares * (_NUM_SCORES - 1) + 1).cast(pl.UInt64).fill_null(0).to_numpy()


def _doubled(keys_N: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Places of the same K of the same cell."""
    places_N = keys_N >> _SCORE_BITS
    doubled: NDArray[np.uint64] = places_N[1:][places_N[1:] == places_N[:-1]]
    return doubled


def _falling(keys_N: NDArray[np.uint64], k_bits: np.uint64) -> NDArray[np.uint64]:
    """Places of scores below that of the K before."""
    scores_N = keys_N & _NUM_SCORES
    if not scores_N.all():
        keys_N = keys_N[scores_N > 0]
        scores_N = keys_N & _NUM_SCORES
    falls = np.flatnonzero(scores_N[1:] < scores_N[:-1])
    before, after = keys_N[falls] >> _SCORE_BITS, keys_N[falls + 1] >> _SCORE_BITS
    falling: NDArray[np.uint64] = after[(before >> k_bits) == (after >> k_bits)]
    return falling
