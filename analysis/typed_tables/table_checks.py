"""What must hold before scores are ranked, and the sentence for each way it can fail."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analysis.typed_tables.printed_cells import numbers_of
from analysis.typed_tables.row_filters import missing_column
from analysis.typed_tables.table_file import TableFile
from podium.errors import PodiumError

_SHOWN = 5
_LARGEST_K = 2**31 - 1
_INFINITE = (float("inf"), float("-inf"))
_LARGEST = 1e100  # squares of scores are added up
_ROWS = "__rows"  # a name that no column of a user's table has
_K = "k"
_SCORE_BITS = np.uint64(30)
_NUM_SCORES = np.uint64(2**30 - 1)  # 0 is for rows without a score


def block_text(values: Sequence[object]) -> str:
    """The values that name a block or a cell, joined by ``/``."""
    return "/".join(str(value) for value in values)


def check_columns(
    frame: pl.DataFrame, *, keys: Sequence[str], score: str, table: TableFile
) -> None:
    """Every column exists, none plays two roles, and no key is empty.

    Args:
        frame: table to check.
        keys: columns of blocks, of competitors and those averaged over.
        score: column of scores.
        table: the file of the frame, with the same rows, for messages.

    Raises:
        PodiumError: naming the first column that fails.
    """
    for column, times in Counter([*keys, score]).items():
        if column not in frame.columns:
            raise missing_column(column, frame.columns, source=table.source)
        if times > 1:
            raise PodiumError(
                "a column is part of the block, the competitor, the score, or averaged over; "
                f"{column!r} was named {times} times"
            )
        if column != score and frame[column].has_nulls():
            row = int(frame[column].is_null().arg_max() or 0)
            raise PodiumError(f"column {column!r} of {table.source} is empty in {table.row(row)}")


def check_ks(column: pl.Series) -> None:
    """Every value can be the K of a Recall@K.

    Raises:
        PodiumError: naming the first that is null, no whole number, below 1 or above 2^31 - 1.
    """
    if column.dtype == pl.Boolean:
        column = column.cast(pl.String)
    known = column.cast(pl.Float64, strict=False)
    is_k = (known == known.floor()) & known.is_between(1, _LARGEST_K)
    is_wrong = ~is_k.fill_null(value=False)
    if is_wrong.any():
        value = column.filter(is_wrong)[0]
        raise PodiumError(
            f"column {column.name!r} must hold the K of Recall@K, whole numbers from 1 to"
            f" {_LARGEST_K}; got {value!r}"
        )


def with_scores(frame: pl.DataFrame, score: str, *, table: TableFile) -> pl.DataFrame:
    """The table with its scores as Float64, a missing one (empty, a dash, NaN) as null.

    Args:
        frame: table of any number of rows.
        score: column of scores, as numbers or as they are printed.
        table: the file of the frame, with the same rows, for messages.

    Raises:
        PodiumError: there is no row; or naming the first row whose score is no number, infinite
            or so large that its square is.
    """
    column, source = frame[score], table.source
    if frame.is_empty():
        raise PodiumError(f"{source} has no rows below its header")
    if column.dtype == pl.String or column.dtype == pl.Null:
        numbers, is_wrong = numbers_of(column.cast(pl.String))
    elif column.dtype.is_numeric():
        numbers = column.cast(pl.Float64)
        is_wrong = pl.repeat(value=False, n=len(column), dtype=pl.Boolean, eager=True)
    else:
        numbers, is_wrong = column.to_physical(), column.is_not_null()
    if is_wrong.any():
        row = int(is_wrong.arg_max() or 0)
        raise PodiumError(
            f"column {score!r} of {source} must hold numbers; {table.row(row)} holds "
            f"{column[row]!r} (leave a missing score empty)"
        )
    numbers = numbers.cast(pl.Float64).fill_nan(None)
    is_huge = (numbers.abs() > _LARGEST).fill_null(value=False)
    if is_huge.any():
        row = int(is_huge.arg_max() or 0)
        rule = "be finite" if numbers[row] in _INFINITE else f"lie within ±{_LARGEST:g}"
        raise PodiumError(
            f"a score must {rule}; {table.row(row)} of {source} holds {column[row]}"
            f" in column {score!r}"
        )
    return frame.with_columns(numbers.alias(score))


def refuse_duplicates(
    frame: pl.DataFrame,
    *,
    by: Sequence[str],
    competitor: str,
    score: str,
    average: Sequence[str] = (),
) -> None:
    """At most one row for each block, competitor and averaged value.

    Raises:
        PodiumError: naming one cell with several rows, and the columns in which its rows differ.
    """
    keys = [*by, competitor, *average]
    if not has_doubles(frame, keys):
        return
    counts = frame.group_by(keys, maintain_order=True).len(name=_ROWS)
    twice = counts.filter(pl.col(_ROWS) > 1)
    if twice.is_empty():
        return
    *values, count = twice.row(0)
    rows = frame.filter(
        pl.col(name).eq_missing(pl.lit(value)) for name, value in zip(keys, values, strict=True)
    )
    others = [
        f"{name} ({_few(rows[name].unique(maintain_order=True).to_list())})"
        for name in frame.columns
        if name not in (*keys, score) and rows[name].n_unique() > 1
    ]
    advice = (
        f"They differ in {', '.join(others)}: keep one with --where, add the column to --by, or "
        "average over it with --average"
        if others
        else "They differ in nothing but the score"
    )
    raise PodiumError(
        f"a competitor must have one score in a block, but {block_text(values)} has {count} rows. "
        f"{advice}"
    )


def has_doubles(frame: pl.DataFrame, keys: Sequence[str]) -> bool:
    """Whether two rows agree in all keys, by hashes: True may be a collision, False is certain."""
    return frame.select(keys).hash_rows().n_unique() < len(frame)


def falling_recall(frame: pl.DataFrame, cell: Sequence[str], score: str) -> tuple[str, ...]:
    """One warning naming the rows in which Recall@K falls as K grows, which cannot be.

    Args:
        frame: a table with a numeric column ``k``.
        cell: columns that, with ``k``, name one row.
        score: column of Recall@K.
    """
    falls = falling_rows(frame, cell, score)
    if falls.is_empty():
        return ()
    named = [
        f"{block_text([row[name] for name in cell])} (R@{row['k']} = {row[score]:g} after "
        f"R@{row['__k_before']} = {row['__before']:g})"
        for row in falls.head(_SHOWN).to_dicts()
    ]
    more = f" and {len(falls) - _SHOWN} more" if len(falls) > _SHOWN else ""
    return (f"Recall@K cannot fall as K grows: {'; '.join(named)}{more}",)


def falling_rows(frame: pl.DataFrame, cell: Sequence[str], score: str) -> pl.DataFrame:
    """The rows whose Recall@K is below that of the next smaller K, with ``__before`` and its K.

    Args:
        frame: a table with a numeric column ``k``; rows without a score are ignored.
        cell: columns that, with ``k``, name one row.
        score: column of Recall@K.

    Returns:
        Those rows, sorted, with ``__before`` and ``__k_before``. Rows of one cell and ``k`` whose
        scores differ are left out: which of them its neighbours in k follow is not known.
    """
    order = [*cell, "k"]
    frame = suspect_rows(frame, cell, score).unique([*order, score]).unique(order, keep="none")
    before = pl.col(score).shift().over(cell, order_by="k")
    k_before = pl.col("k").shift().over(cell, order_by="k")
    return (
        frame.drop_nulls(score)
        .with_columns(before.alias("__before"), k_before.alias("__k_before"))
        .filter(pl.col(score) < pl.col("__before"))
        .sort(order)
    )


def suspect_rows(frame: pl.DataFrame, cell: Sequence[str], score: str) -> pl.DataFrame:
    """All rows of every cell in which a K occurs twice, or a score falls from one K to the next.

    A fall smaller than a billionth of the range of all scores is taken for rounding.

    Args:
        frame: a table with a numeric column ``k``; rows without a score fall nowhere.
        cell: columns that, with ``k``, name one row.
        score: column of Recall@K, finite or null.

    Returns:
        Rows of the frame in their order; usually none.
    """
    if frame.is_empty():
        return frame
    ks = frame[_K].unique().sort()
    k_bits = np.uint64(max(1, (len(ks) - 1).bit_length()))
    cells_N = frame.select(cell).hash_rows().to_numpy() >> (k_bits + _SCORE_BITS)
    k_th_N = frame[_K].replace_strict(ks, range(len(ks)), return_dtype=pl.UInt64).to_numpy()
    rows_N = (cells_N << k_bits) | k_th_N
    keys_N = np.sort((rows_N << _SCORE_BITS) | _whole_scores(frame[score]))
    suspects = pl.Series(np.union1d(_doubled(keys_N), _falling(keys_N, k_bits)) >> k_bits)
    if suspects.is_empty():
        return frame.clear()
    return frame.filter(pl.Series(cells_N).is_in(suspects.unique().implode()))


def outside_range(frame: pl.DataFrame, score: str) -> tuple[pl.DataFrame, float]:
    """The rows whose recall is impossible, and the largest possible one.

    If the median is at most 1, recalls are shares of 1, else percent.

    Args:
        frame: a table of recalls; null is in range.
        score: column of recalls.
    """
    middle = frame[score].median()
    is_share = isinstance(middle, (int, float)) and middle <= 1
    top = 1.0 if is_share else 100.0
    return frame.filter((pl.col(score) < 0) | (pl.col(score) > top)), top


def impossible_recall(frame: pl.DataFrame, cell: Sequence[str], score: str) -> tuple[str, ...]:
    """One warning naming the rows whose recall lies outside 0 to 100 %.

    Args:
        frame: a table with a numeric column ``k``.
        cell: columns that, with ``k``, name one row.
        score: column of Recall@K.
    """
    rows, top = outside_range(frame, score)
    if rows.is_empty():
        return ()
    return (f"Recall@K lies within 0 and {top:g}: {named_recalls(rows, cell, score)}",)


def named_recalls(rows: pl.DataFrame, cell: Sequence[str], score: str) -> str:
    """The first few rows with their recall, in order of cell and ``k``, and how many more."""
    named = [
        f"{block_text([row[name] for name in cell])} (R@{row['k']} = {row[score]:g})"
        for row in rows.sort(*cell, "k").head(_SHOWN).to_dicts()
    ]
    more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
    return f"{'; '.join(named)}{more}"


def _few(values: Sequence[object]) -> str:
    more = ", ..." if len(values) > _SHOWN else ""
    return ", ".join(str(value) for value in values[:_SHOWN]) + more


def _whole_scores(scores: pl.Series) -> NDArray[np.uint64]:
    """Scores scaled to 1 to 2^30 - 1, from the smallest to the largest; 0 where there is none."""
    low, high = scores.min(), scores.max()
    if low is None or low == high:
        return scores.is_not_null().cast(pl.UInt64).to_numpy()
    shares = (scores - low) / (scores - low).max()
    return (shares * (_NUM_SCORES - 1) + 1).cast(pl.UInt64).fill_null(0).to_numpy()


def _doubled(keys_N: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Row keys, without scores, that occur twice: the same K of the same cell."""
    rows_N = keys_N >> _SCORE_BITS
    doubled: NDArray[np.uint64] = rows_N[1:][rows_N[1:] == rows_N[:-1]]
    return doubled


def _falling(keys_N: NDArray[np.uint64], k_bits: np.uint64) -> NDArray[np.uint64]:
    """Row keys, without scores, whose score is below that of the K before."""
    scores_N = keys_N & _NUM_SCORES
    if not scores_N.all():
        keys_N = keys_N[scores_N > 0]
        scores_N = keys_N & _NUM_SCORES
    falls = np.flatnonzero(scores_N[1:] < scores_N[:-1])
    before, after = keys_N[falls] >> _SCORE_BITS, keys_N[falls + 1] >> _SCORE_BITS
    falling: NDArray[np.uint64] = after[(before >> k_bits) == (after >> k_bits)]
    return falling
