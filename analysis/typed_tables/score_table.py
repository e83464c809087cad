"""A table of scores from a file, checked and reduced to one row per block and competitor."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from analysis.typed_tables.cell_means import CELL_DIGITS, cell_means
from analysis.typed_tables.row_filters import filter_rows, parse_condition
from analysis.typed_tables.share_checks import share_warning
from analysis.typed_tables.table_checks import (
    block_text,
    check_columns,
    check_ks,
    falling_recall,
    has_doubles,
    impossible_recall,
    refuse_duplicates,
    with_scores,
)
from analysis.typed_tables.table_file import read_frame

_K = "k"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreTable:
    """Scores by block and competitor, on which a tournament is held.

    Attributes:
        cells: one row per block and competitor, with the score.
        runs: scores that the cells average over (of seeds, folds), with the columns
            ``run_columns``; equal to ``cells`` if nothing was averaged. Of studies also
            with ``hits`` and ``queries``, null where unknown.
        run_columns: columns that distinguish the runs of a cell, the outermost first; empty if
            nothing was averaged.
        by: columns that name a block.
        competitor: column of competitors.
        score: column of scores; higher is better.
        warnings: sentences that a reader of the result must know.
        k: K of the scores, if the file has a column ``k`` and they are all of one K; else None.
        every_k: ``cells`` at all K of the file, with the column ``k``, also at those that were
            filtered out; None of a file without that column, or whose other rows are ambiguous.
    """

    cells: pl.DataFrame
    runs: pl.DataFrame
    run_columns: tuple[str, ...]
    by: tuple[str, ...]
    competitor: str
    score: str
    warnings: tuple[str, ...]
    k: int | None = None
    every_k: pl.DataFrame | None = None


def read_table(
    path: Path,
    *,
    by: Sequence[str],
    competitor: str,
    score: str,
    where: Sequence[str] = (),
    average: Sequence[str] = (),
) -> ScoreTable:
    """Read a CSV or Parquet file with one score per row.

    An empty, null or NaN score counts as missing, with a warning: its block will be incomplete.
    If the file has a column ``k``, the score is taken for a Recall@K, and rows that fall with k or
    lie outside 0 to 100 % are warned of, whichever k is used.

    Args:
        path: a ``.csv`` file with a header, or a ``.parquet`` file.
        by: columns whose values together name a block.
        competitor: column of competitors.
        score: column of scores.
        where: conditions ``column=value``; rows that meet all are kept.
        average: columns, such as ``seed`` and ``fold``, whose rows are averaged within a cell.

    Raises:
        PodiumError: a missing column, a score that is no number, an empty block or competitor, no
            row left, or several scores of one competitor in one block.
        CorruptFileError: the file is not what its name says.
    """
    conditions = [parse_condition(text) for text in where]
    frame = read_frame(path)
    cell = [*by, competitor]
    check_columns(frame, keys=[*cell, *average], score=score, source=str(path))
    frame = with_scores(frame, score, source=str(path))
    at_all_k = filter_rows(frame, [c for c in conditions if c[0] != _K], source=str(path))
    has_k = _has_k(at_all_k, [*cell, *average])
    if has_k:
        check_ks(at_all_k[_K].drop_nulls())
    warnings = _recall_warnings(at_all_k, by, [*cell, *average], score) if has_k else ()
    kept = filter_rows(at_all_k, [c for c in conditions if c[0] == _K], source=str(path))
    refuse_duplicates(kept, by=by, competitor=competitor, score=score, average=average)
    k = _only_k(kept) if has_k else None
    every_k = _every_k(at_all_k, cell, score, average) if has_k else None
    if not average:
        cells = kept.select(*cell, score)
    elif k is not None and every_k is not None:
        cells = every_k.filter(pl.col(_K) == k).drop(_K)
    else:
        cells = _averaged(kept, cell, score)
    return ScoreTable(
        cells=cells,
        runs=kept.select(*cell, *average, score),
        run_columns=tuple(average),
        by=tuple(by),
        competitor=competitor,
        score=score,
        warnings=(*warnings, *_missing_warnings(kept, cell, score)),
        k=k,
        every_k=every_k,
    )


def _recall_warnings(
    frame: pl.DataFrame, by: Sequence[str], cell: Sequence[str], score: str
) -> tuple[str, ...]:
    """Warnings of what no Recall@K can be."""
    return (
        *impossible_recall(frame, cell, score),
        *falling_recall(frame, cell, score),
        *share_warning(frame, by, cell, score),
    )


def _has_k(frame: pl.DataFrame, cell: Sequence[str]) -> bool:
    return _K in frame.columns and _K not in cell and frame[_K].dtype.is_numeric()


def _only_k(frame: pl.DataFrame) -> int | None:
    found = frame[_K].unique().to_list()
    return int(found[0]) if len(found) == 1 and found[0] is not None else None


def _every_k(
    frame: pl.DataFrame, cell: Sequence[str], score: str, average: Sequence[str]
) -> pl.DataFrame | None:
    """Cells at every K; None if a cell has two rows of one K.

    Rows of other K than the selected one are left out rather than refused.
    """
    keys = [*cell, _K]
    known = frame.drop_nulls(_K).with_columns(pl.col(_K).cast(pl.Int64))
    if has_doubles(known, [*keys, *average]):
        return None
    return _averaged(known, keys, score) if average else known.select(*keys, score)


def _averaged(frame: pl.DataFrame, cell: Sequence[str], score: str) -> pl.DataFrame:
    """Means to 12 significant digits, so that equal means tie in spite of float rounding."""
    means = cell_means(frame, cell, score)
    return means.with_columns(pl.col(score).round_sig_figs(CELL_DIGITS))


def _missing_warnings(frame: pl.DataFrame, cell: Sequence[str], score: str) -> tuple[str, ...]:
    missing = frame.filter(pl.col(score).is_null()).select(cell).unique(maintain_order=True)
    if missing.is_empty():
        return ()
    names = [block_text(row) for row in missing.rows()]
    return (f"no score, counted as missing: {', '.join(names)}",)
