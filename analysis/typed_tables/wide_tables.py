"""Tables of scores as papers print them: a column for each K, or for each block."""

import re
from collections.abc import Sequence

import polars as pl

_RECALL_AT = re.compile(
    r"(?:.*[ _])?(?:r|recall)(?:@|_at_| at | @ ?)(\d+)(?:[ _]?%| \(%\))?", re.I
)


def k_columns(columns: Sequence[str]) -> dict[str, int]:
    """Column -> K, of those called ``R@1``, ``recall_at_1``, ``Recall@1 (%)`` and the like.

    Where two columns have one K, as of validation and of test, none is taken: they are not one
    score.
    """
    found = {
        name: int(match[1])
        for name in columns
        if (match := _RECALL_AT.fullmatch(name.strip())) is not None
    }
    return found if len(set(found.values())) == len(found) else {}


def long_by_k(frame: pl.DataFrame, ks: dict[str, int], *, score: str) -> pl.DataFrame:
    """One row per row and K: the columns of ``ks`` become ``k`` and ``score``."""
    others = [name for name in frame.columns if name not in ks]
    long = frame.unpivot(list(ks), index=others, variable_name="k", value_name=score)
    return long.with_columns(pl.col("k").replace_strict(ks, return_dtype=pl.Int64))


def long_by_block(
    frame: pl.DataFrame, columns: Sequence[str], *, competitor: str, score: str
) -> pl.DataFrame:
    """One row per competitor and block: each of ``columns`` is a block called by its name."""
    return frame.unpivot(list(columns), index=competitor, variable_name="block", value_name=score)
