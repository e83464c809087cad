"""What must hold before scores are ranked, and the sentence for each way it can fail."""

import reprlib
from collections import Counter
from collections.abc import Iterable, Sequence

import polars as pl

from podium.analysis.typed_tables.cells import numbers_of
from podium.analysis.typed_tables.row_filters import missing_column
from podium.analysis.typed_tables.table_file import TableFile
from podium.errors import PodiumError

_SHOWN = 5
_SHORT = 60  # characters of a column and its values
_LARGEST_K = 2**31 - 1
_LARGEST = 1e100  # squares of scores are added up
_ROWS, _CELL, _BEFORE, _K_BEFORE = "__rows", "__cell", "__before", "__k_before"
_K = "k"
_FEWEST_EQUAL = 3  # blocks in which equal scores are hardly chance
_ROUNDING = 1e-9  # share of the largest score below which a fall is rounding
_FACTOR = 20  # a share is a hundredth of its percent; scores of one block differ by less than this


def block_text(values: Iterable[object]) -> str:
    """The values that name a block or a cell, joined by ``/``."""
    return "/".join(str(value) for value in values)


def check_columns(
    frame: pl.DataFrame, *, keys: Sequence[str], score: str, table: TableFile
) -> None:
    """Every column exists, none plays two roles, and no key is empty.

    The frame has the rows of the file, which messages name.

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

    The frame has the rows of the file, which messages name.

    Raises:
        PodiumError: there is no row; or naming the first row whose score is no number, has a
            comma that is ambiguous, is infinite, or so large that its square is.
    """
    column, source = frame[score], table.source
    if frame.is_empty():
        raise PodiumError(f"{source} has no rows below its header")
    if column.dtype.is_numeric() or column.dtype in (pl.String, pl.Null):
        numbers, is_wrong = numbers_of(column, table.commas)
    else:
        numbers, is_wrong = column.to_physical(), column.is_not_null()
    if is_wrong.any():
        row = int(is_wrong.arg_max() or 0)
        advice = "leave a missing score empty"
        if table.commas == "ambiguous" and "," in str(column[row]):
            advice = "its comma may begin decimals or divide thousands: write it without one"
        raise PodiumError(
            f"column {score!r} of {source} must hold numbers; {table.row(row)} holds "
            f"{reprlib.repr(column[row])} ({advice})"
        )
    numbers = numbers.cast(pl.Float64).fill_nan(None)
    is_huge = (numbers.abs() > _LARGEST).fill_null(value=False)
    if is_huge.any():
        row = int(is_huge.arg_max() or 0)
        rule = "be finite" if abs(numbers[row]) == float("inf") else f"lie within ±{_LARGEST:g}"
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
    counts = frame.group_by(keys, maintain_order=True).len(name=_ROWS)
    twice = counts.filter(pl.col(_ROWS) > 1)
    if twice.is_empty():
        return
    *values, count = twice.row(0)
    rows = frame.filter(
        pl.col(name).eq_missing(pl.lit(value)) for name, value in zip(keys, values, strict=True)
    )
    others = [
        f"{name} ({named(map(str, rows[name].unique(maintain_order=True)), ', ')})"
        for name in frame.columns
        if name not in (*keys, score) and rows[name].n_unique() > 1
    ]
    short = [text for text in others if len(text) <= _SHORT][:_SHOWN]
    more = f" and {len(others) - len(short)} more" if len(others) > len(short) else ""
    advice = (
        f"They differ in {', '.join(short)}{more}: keep one with --where, add the column to --by,"
        " or average over it with --average (in Python where, by, average)"
        if others
        else "They differ in nothing but the score"
    )
    raise PodiumError(
        f"a competitor must have one score in a block, but {block_text(values)} has {count} rows. "
        f"{advice}"
    )


def without_doubles(
    frame: pl.DataFrame, cell: Sequence[str]
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The table with each of its rows once, and a warning that names those that were repeated."""
    once = frame.unique(maintain_order=True)
    if len(once) == len(frame):
        return frame, ()
    twice = frame.filter(frame.is_duplicated()).select(cell).unique(maintain_order=True)
    return once, (f"doubled rows, counted once: {named(map(block_text, twice.rows()))}",)


def equal_competitors(
    cells: pl.DataFrame, by: Sequence[str], competitor: str, score: str
) -> tuple[str, ...]:
    """One warning naming competitors with the scores of an earlier one in all blocks of theirs."""
    scored = cells.drop_nulls(score)
    bits = scored.with_columns(scored.select(*by, score).hash_rows().alias(_CELL))
    sums = bits.group_by(competitor, maintain_order=True).agg(
        pl.col(_CELL).bitwise_xor(), pl.len().alias(_ROWS)
    )
    sums = sums.filter(pl.col(_ROWS) >= _FEWEST_EQUAL)
    groups = sums.group_by(_CELL, _ROWS, maintain_order=True).agg(pl.col(competitor))
    same = [names for names in groups[competitor].to_list() if len(names) > 1]
    if not same:
        return ()
    texts = (", ".join(map(str, names)) for names in same)
    return (f"equal in all settings, a copy?: {named(texts)}",)


def recall_warnings(
    frame: pl.DataFrame, by: Sequence[str], cell: Sequence[str], score: str
) -> tuple[str, ...]:
    """Warnings of what no Recall@K can be, each naming its first few rows.

    If the median is at most 1, recalls are shares of 1, else percent; then a share is below 1, and
    below a twentieth of the best of its block.
    """
    value, middle = pl.col(score), frame[score].median()
    top = 1.0 if isinstance(middle, (int, float)) and middle <= 1 else 100.0
    best = value.max().over([*by, _K])
    is_below = (value < best / _FACTOR) | (best < 1)
    is_share = (value > 0) & (value < 1) & is_below & pl.lit(value=top > 1)
    found = (
        (f"Recall@K lies within 0 and {top:g}", frame.filter((value < 0) | (value > top))),
        ("Recall@K cannot fall as K grows", _falling(frame, cell, score)),
        ("shares of 1 among percent", frame.filter(is_share)),
    )
    return tuple(
        f"{what}: {named(_recall(row, cell, score) for row in rows.sort(*cell, _K).to_dicts())}"
        for what, rows in found
        if len(rows)
    )


def _falling(frame: pl.DataFrame, cell: Sequence[str], score: str) -> pl.DataFrame:
    """The rows whose Recall@K is below that of the next smaller K, with that and its K.

    Rows of one cell and K are left out: which of them its neighbours follow is not known.
    """
    cells = frame.select(cell).hash_rows().alias(_CELL)
    rows = frame.with_columns(cells).drop_nulls(score).sort(_CELL, _K)
    rows = rows.filter(~rows.select(_CELL, _K).is_duplicated())
    before = rows.with_columns(
        pl.col(score).shift().over(_CELL).alias(_BEFORE),
        pl.col(_K).shift().over(_CELL).alias(_K_BEFORE),
    )
    slack = pl.col(score).abs().max() * _ROUNDING
    return before.filter(pl.col(score) < pl.col(_BEFORE) - slack)


def _recall(row: dict[str, object], cell: Sequence[str], score: str) -> str:
    after = f" after R@{row[_K_BEFORE]} = {row[_BEFORE]:g}" if _BEFORE in row else ""
    where = block_text([row[name] for name in cell])
    return f"{where} (R@{row[_K]} = {row[score]:g}{after})"


def named(texts: Iterable[str], divider: str = "; ") -> str:
    """The first few texts, and how many more there are."""
    texts = list(texts)
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return f"{divider.join(texts[:_SHOWN])}{more}"
