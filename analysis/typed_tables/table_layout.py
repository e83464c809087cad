"""Finds what the columns of a table are, and lays it out as one score per row.

A long table has a column of scores, one row for each. In a wide one each column of scores is a K,
a metric, a data set, or one of these of another. The names of columns decide, unless a user says
what they are. Competitors are rows.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from podium.analysis.typed_tables.cells import numbers_of
from podium.analysis.typed_tables.row_filters import missing_column
from podium.analysis.typed_tables.score_names import (
    RECALL,
    SPLITS,
    ScoreName,
    is_no_score,
    k_of,
    normal,
    score_name,
)
from podium.analysis.typed_tables.table_checks import check_columns, with_scores
from podium.analysis.typed_tables.table_file import TableFile
from podium.analysis.typed_tables.table_options import TableOptions
from podium.analysis.wording import listed
from podium.errors import PodiumError

SCORE, K, DATA_SET = "recall", "k", "dataset"

_COMPETITORS = (
    "loss", "losses", "loss_function", "method", "methods", "approach", "algorithm", "model",
    "models", "competitor", "name", "config",
)  # fmt: skip
# Columns that name a block, in the order in which they do, by all their names.
_BLOCKS = (
    (DATA_SET, "data_set", "data", "benchmark"),
    ("backbone", "architecture", "arch", "network", "net", "trunk"),
    ("embedding_dim", "dim", "dimension", "embedding_size", "embedding_dimension", "emb_dim"),
    ("image_size",),
    ("block",),
)
_SCORES = ("recall", "score", "scores", "value", "result")
_METRICS = ("metric", "measure")
_MOST_SHOWN = 20  # columns that a message names
_MOSTLY = 0.5  # share of a column's cells that must be numbers, for it to be one of scores


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A table with one score per row.

    Attributes:
        frame: its rows: columns of blocks, competitors and scores, maybe ``k``, and others of a
            long table. Scores are Float64, null where one is missing.
        by: columns that together name a block.
        competitor: column of competitors.
        score: column of scores: its name in a long table, else the metric.
        unused: columns and metrics that are no part of the frame, or say nothing in it.
    """

    frame: pl.DataFrame
    by: tuple[str, ...]
    competitor: str
    score: str
    unused: tuple[str, ...]


def lay_out(table: TableFile, given: TableOptions) -> Layout:
    """The table as one score per row.

    Raises:
        PodiumError: a column that must be there is not, plays two roles, is empty where it names a
            block or competitor, or holds text among scores; what the columns are is ambiguous.
    """
    competitor = competitor_column(table.frame, given)
    if competitor is None and given.competitor is not None:
        raise missing_column(given.competitor, table.frame.columns, source=table.source)
    if competitor is None:
        raise PodiumError(
            f"{table.source} has no column 'loss', nor any other name of competitors (method,"
            f" model, ...): --competitor names it ({_columns(table.frame)})."
            " Where each competitor has a column, turn the table: one row for each competitor, one"
            " column for each data set, below a header that begins with loss"
        )
    score = score_column(table.frame, given)
    if score is not None:
        return _long(table, given, competitor, score)
    return _wide(table, given, competitor)


def columns_not_laid_out(frame: pl.DataFrame, given: TableOptions) -> set[str]:
    """The columns that the layout of a table lacks, so that conditions on them come before it."""
    if score_column(frame, given) is None:
        return set(frame.columns)
    metric = first_called(frame.columns, _METRICS)
    return set() if metric is None else {metric}


def score_column(frame: pl.DataFrame, given: TableOptions) -> str | None:
    """The column of scores of a long table; None of a wide one.

    One that is named after its metric, such as ``R@2``, is of a long table if others name blocks.
    Without a name it is the only column of numbers that is left.
    """
    if given.score is not None:
        if given.score not in frame.columns and first_called(frame.columns, _METRICS) is not None:
            return first_called(frame.columns, _SCORES)  # one of the metrics of a column
        is_wide = given.by is None and score_name(given.score) is not None
        if given.score not in frame.columns or (is_wide and not block_columns(frame.columns)):
            return None
        return given.score
    named = first_called(frame.columns, _SCORES)
    competitor = competitor_column(frame, given)
    if named is not None or competitor is None or score_columns(frame, given, competitor):
        return named
    plain = plain_score_columns(frame, given, competitor)
    return plain[0] if len(plain) == 1 else None


def competitor_column(frame: pl.DataFrame, given: TableOptions) -> str | None:
    """The column of competitors, as given or by its name; None without."""
    if given.competitor is not None:
        return given.competitor if given.competitor in frame.columns else None
    return first_called(frame.columns, _COMPETITORS)


def score_columns(
    frame: pl.DataFrame, given: TableOptions, competitor: str
) -> dict[str, ScoreName]:
    """The columns of a wide table that hold scores of a metric, with what their names say.

    A word such as ``test`` or ``val`` is no data set; means and deviations are no scores.
    """
    taken = {competitor, *(given.by or ()), *given.average}
    named = {
        name: found
        for name in frame.columns
        if name not in taken
        and (found := score_name(name)) is not None
        and not (found.block and is_no_score(found.block))
    }
    splits = {normal(found.block) for found in named.values()} & SPLITS
    if len(splits) != 1:
        return named
    return {
        name: replace(found, block="") if normal(found.block) in splits else found
        for name, found in named.items()
    }


def plain_score_columns(
    frame: pl.DataFrame, given: TableOptions, competitor: str
) -> tuple[str, ...]:
    """The columns of numbers that are by no name anything but scores."""
    taken = {competitor, *(given.by or ()), *given.average, *block_columns(frame.columns)}
    return tuple(
        name
        for name in frame.columns
        if name not in taken and not is_no_score(name) and _is_mostly_numbers(frame[name])
    )


def first_called(columns: Sequence[str], names: Sequence[str]) -> str | None:
    """The column of the first of these names that there is; None without."""
    called = {normal(column): column for column in reversed(columns)}
    called |= {column: column for column in columns}
    return next((called[name] for name in names if name in called), None)


def block_columns(columns: Sequence[str]) -> tuple[str, ...]:
    """The columns that name a block, by their names: the data set first."""
    found = (first_called(columns, names) for names in _BLOCKS)
    return tuple(name for name in found if name is not None)


def _is_mostly_numbers(column: pl.Series) -> bool:
    if column.dtype.is_numeric():
        return True
    if column.dtype != pl.String or column.count() == 0:
        return False
    numbers, is_wrong = numbers_of(column, "thousands")  # whatever its commas are
    return numbers.count() > 0 and int(is_wrong.sum()) <= _MOSTLY * column.count()


def _with_k(frame: pl.DataFrame, given: TableOptions) -> pl.DataFrame:
    """The table with whole numbers in ``k``, where it holds cells such as ``R@4`` or is ``K``."""
    name = first_called(frame.columns, (K,))
    if name is None or name in (*(given.by or ()), *given.average):
        return frame
    frame = frame.rename({name: K})
    if frame.schema[K] != pl.String:
        return frame
    ks = [None if cell is None else k_of(cell) for cell in frame[K]]
    return frame if None in ks else frame.with_columns(pl.Series(K, ks, dtype=pl.Int64))


def _long(table: TableFile, given: TableOptions, competitor: str, score: str) -> Layout:
    frame = _with_k(table.frame, given)
    metric = first_called(frame.columns, _METRICS)  # says of which metric each score is
    if metric in (*(given.by or ()), *given.average):
        metric = None
    by = _long_blocks(frame, given, {competitor, score, *given.average, K, metric})
    if not by:
        by, frame = (DATA_SET,), frame.with_columns(pl.lit(table.stem).alias(DATA_SET))
    check_columns(frame, keys=[*by, competitor, *given.average], score=score, table=table)
    frame = with_scores(frame, score, table=table)
    unused: tuple[str, ...] = ()
    if metric is not None:
        wanted = None if given.score == score else given.score
        frame, score, unused = _of_one_metric(frame, metric, score, wanted, table.source)
    others = [
        name for name in frame.columns if name not in (*by, competitor, *given.average, score, K)
    ]
    return Layout(
        frame=frame, by=by, competitor=competitor, score=score, unused=(*others, *unused)
    )


def _long_blocks(
    frame: pl.DataFrame, given: TableOptions, others: set[str | None]
) -> tuple[str, ...]:
    """The columns of blocks; none where there is nothing else in the table, which is one block."""
    if given.by is not None:
        return tuple(given.by)
    found = tuple(name for name in block_columns(frame.columns) if name not in others)
    left = [name for name in frame.columns if name not in others and not is_no_score(name)]
    if not found and left:
        known = ", ".join(names[0] for names in _BLOCKS)
        raise PodiumError(
            "name the columns that make a block with --by; none of"
            f" {known} is in the table ({_columns(frame)})"
        )
    return found


def _of_one_metric(
    frame: pl.DataFrame, metric: str, score: str, wanted: str | None, source: str
) -> tuple[pl.DataFrame, str, tuple[str, ...]]:
    """The rows of one metric of a column of metrics, its name, and the other metrics.

    That is ``wanted``, else recall; its K become the column ``k`` unless there is one.
    """
    asked = score_name(wanted or "")
    if asked is not None and asked.k is not None:
        raise PodiumError(f"--score names a metric, and --where k={asked.k} the K; got {wanted!r}")
    names = [str(name) for name in frame[metric].drop_nulls().unique(maintain_order=True)]
    of = {name: score_name(name) or ScoreName(block="", metric=name, k=None) for name in names}
    label = _chosen(list(dict.fromkeys(found.metric for found in of.values())), wanted, source)
    kept = [name for name, found in of.items() if found.metric == label]
    unused = tuple(name for name in names if name not in kept)
    frame = frame.filter(pl.col(metric).is_in(kept))
    ks = {name: of[name].k for name in kept}
    if K not in frame.columns and None not in ks.values():
        found_ks = pl.col(metric).replace_strict(ks, return_dtype=pl.Int64)
        frame = frame.with_columns(found_ks.alias(K))
    elif len(kept) > 1:
        raise PodiumError(
            f"column {metric!r} of {source} holds {', '.join(kept)}: keep one with --where"
            f" {metric}={kept[0]}"
        )
    name = score if label == RECALL and normal(score) == RECALL else label
    if name != score and name in frame.columns:
        name = score
    return frame.drop(metric).rename({score: name}), name, unused


def _chosen(metrics: Sequence[str], score: str | None, source: str) -> str:
    """The metric that is ranked: as given, else recall, else the only one."""
    if score is not None:
        wanted = score_name(score)
        near = {normal(name): name for name in metrics}
        label = wanted.metric if wanted is not None and not wanted.block else score
        if label in metrics or normal(label) in near:
            return near.get(normal(label), label)
    elif RECALL in metrics or len(metrics) == 1:
        return RECALL if RECALL in metrics else metrics[0]
    raise PodiumError(
        f"{source} holds scores of {', '.join(metrics)}: name one with --score"
        + ("" if score is None else f"; got {score!r}")
    )


def _wide(table: TableFile, given: TableOptions, competitor: str) -> Layout:
    frame = table.frame
    columns, metric = _wide_scores(table, given, competitor)
    block = None
    if any(found.block for found in columns.values()):
        is_plain = not score_columns(frame, given, competitor)
        block = "block" if is_plain or DATA_SET in frame.columns else DATA_SET
    by = _wide_blocks(frame, given, competitor, block)
    others = [name for name in by if name != block or name in frame.columns]
    keys = [*others, competitor, *given.average]
    for name in columns:
        check_columns(frame, keys=keys, score=name, table=table)
        frame = with_scores(frame, name, table=table)
    if block is not None:
        columns = {
            name: replace(found, block=found.block or table.stem)
            for name, found in columns.items()
        }
    long = _melted(frame.select(*dict.fromkeys(keys), *columns), columns, block, metric)
    if not by:
        by, long = (DATA_SET,), long.with_columns(pl.lit(table.stem).alias(DATA_SET))
    unused = [name for name in frame.columns if name not in (*keys, *columns)]
    return Layout(frame=long, by=by, competitor=competitor, score=metric, unused=tuple(unused))


def _wide_scores(
    table: TableFile, given: TableOptions, competitor: str
) -> tuple[dict[str, ScoreName], str]:
    """The columns of scores of a wide table, and their metric: ``score`` where none is named."""
    named = score_columns(table.frame, given, competitor)
    if not named:
        if given.score is not None:
            raise missing_column(given.score, table.frame.columns, source=table.source)
        plain = _plain_blocks(table, given, competitor)
        return {name: ScoreName(block=name, metric="score", k=None) for name in plain}, "score"
    metrics = list(dict.fromkeys(found.metric for found in named.values()))
    metric = _chosen(metrics, given.score, table.source)
    columns = {name: found for name, found in named.items() if found.metric == metric}
    if (k := k_of(given.score or "")) is not None:
        columns = {name: found for name, found in columns.items() if found.k == k} or columns
    _refuse_doubles(columns, table.source)
    return columns, metric


def _plain_blocks(table: TableFile, given: TableOptions, competitor: str) -> tuple[str, ...]:
    """The columns of a table whose columns of scores are a block each."""
    frame = table.frame
    columns = plain_score_columns(frame, given, competitor)
    known = {competitor, *columns, *given.average, *block_columns(frame.columns)}
    texts = [name for name in frame.columns if name not in known and not is_no_score(name)]
    has_blocks = first_called(frame.columns, (*_BLOCKS[0], *_BLOCKS[-1])) is not None
    is_ambiguous = bool(texts) and frame[competitor].is_duplicated().any()
    if not columns or has_blocks or is_ambiguous or given.by is not None:
        raise PodiumError(
            f"{table.source} has no column {SCORE!r}: name the scores with --score; where each"
            " column is a block there must be none but these and the competitors"
            f" ({_columns(frame)})"
        )
    return columns


def _refuse_doubles(columns: dict[str, ScoreName], source: str) -> None:
    """Two columns of one data set and K, as of validation and test, are not one score."""
    twice = Counter((found.block, found.k) for found in columns.values())
    (what, times), *_ = twice.most_common(1)
    of_split = {normal(found.block) for found in columns.values()} & SPLITS
    if times == 1 and not of_split:
        return
    same = [name for name, found in columns.items() if (found.block, found.k) == what]
    shown = same if times > 1 else list(columns)
    raise PodiumError(
        f"columns {', '.join(map(repr, shown))} of {source} hold scores of one block and K: keep"
        " one of them, or name it with --score"
    )


def _wide_blocks(
    frame: pl.DataFrame, given: TableOptions, competitor: str, block: str | None
) -> tuple[str, ...]:
    """The columns that name a block of a wide table, that of the header first.

    Where each competitor has one row, a backbone or dimension that differs between them describes
    it, as in most comparisons with other papers, and names no block.
    """
    if given.by is not None:
        found = [name for name in given.by if name not in (K, block)]
    else:
        found = list(block_columns(frame.columns))
        if not frame[competitor].is_duplicated().any():
            found = [name for name in found if frame[name].n_unique() == 1]
    of_header = [block] if block is not None else []
    with_k = [K] if K in (given.by or ()) else []
    return (*of_header, *found, *with_k)


def _melted(
    frame: pl.DataFrame, columns: dict[str, ScoreName], block: str | None, metric: str
) -> pl.DataFrame:
    """One row per row and column of scores, those of the first column first."""
    column = "__column"
    index = [name for name in frame.columns if name not in columns]
    long = frame.unpivot(list(columns), index=index, variable_name=column, value_name="__score")
    parts: list[pl.Expr] = []
    if block is not None:
        blocks = {name: found.block for name, found in columns.items()}
        parts.append(pl.col(column).replace_strict(blocks).alias(block))
    if all(found.k is not None for found in columns.values()):
        ks = {name: found.k for name, found in columns.items()}
        parts.append(pl.col(column).replace_strict(ks, return_dtype=pl.Int64).alias(K))
    return long.with_columns(parts).drop(column).rename({"__score": metric})


def _columns(frame: pl.DataFrame) -> str:
    return f"columns: {listed(frame.columns, most=_MOST_SHOWN)}"
