"""A table of scores from a file, checked and reduced to one row per block and competitor."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from podium.analysis.typed_tables.cells import Commas
from podium.analysis.typed_tables.omissions import leave_out, omission_text, without_averages
from podium.analysis.typed_tables.row_filters import (
    Condition,
    filter_file,
    filter_rows,
    parse_condition,
)
from podium.analysis.typed_tables.table_checks import (
    block_text,
    check_ks,
    equal_competitors,
    recall_warnings,
    refuse_duplicates,
    without_doubles,
)
from podium.analysis.typed_tables.table_file import TableFile, read_table_file
from podium.analysis.typed_tables.table_layout import (
    Layout,
    columns_not_laid_out,
    lay_out,
)
from podium.analysis.typed_tables.table_options import TableOptions
from podium.analysis.wording import MOST_NAMED, counted, listed
from podium.errors import PodiumError

# Means are rounded to so many significant digits, so that equal ones tie in spite of rounding.
CELL_DIGITS = 12
_MOST_PLACES = 2**22  # of scores in memory, missing ones among them
_K = "k"
_COMMAS = {"decimal": "commas begin decimals", "thousands": "commas divide thousands"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableReading:
    """What was taken for blocks, competitors, metric and K; its fields are those of ``--json``.

    Attributes:
        by: columns that together name a block.
        blocks: number of blocks.
        competitor: column of competitors.
        competitors: number of competitors.
        metric: column or metric of the scores.
        k: K that is ranked; None if scores have no K, or several are ranked together.
        ks: every K of the table.
        not_used: columns and metrics that are none of these.
        lower_is_better: whether small scores are good.
        commas: what the commas of its numbers are.
    """

    by: tuple[str, ...]
    blocks: int
    competitor: str
    competitors: int
    metric: str
    k: int | None = None
    ks: tuple[int, ...] = ()
    not_used: tuple[str, ...] = ()
    lower_is_better: bool = False
    commas: Commas = "none"

    def line(self) -> str:
        """One line: ``Read as: 12 blocks (dataset x backbone); 10 competitors (loss); ...``."""
        unused = listed(self.not_used, most=MOST_NAMED)
        parts = (
            f"Read as: {counted(self.blocks, 'setting')} ({' x '.join(self.by)})",
            f"{counted(self.competitors, 'competitor')} ({self.competitor})",
            f"metric {self.metric}{', lower is better' if self.lower_is_better else ''}",
            self._k_text() if self.ks else "",
            _COMMAS.get(self.commas, ""),
            f"not used: {unused}" if unused else "",
        )
        return "; ".join(filter(None, parts))

    def _k_text(self) -> str:
        others = [str(k) for k in self.ks if k != self.k]
        if self.k is None:
            return f"K {', '.join(others)}"
        also = f" (also {', '.join(others)}; --where k={others[0]})" if others else ""
        return f"K {self.k}{also}"


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
        reading: what the columns of the file were taken for; None of a study.
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
    reading: TableReading | None = None

    def has_complete_block(self) -> bool:
        """Whether any block holds a score of every competitor."""
        scored = self.cells.drop_nulls(self.score).group_by(self.by).len()["len"]
        return scored.max() == self.cells[self.competitor].n_unique()


def read_table(table: Path | TableFile, options: TableOptions | None = None) -> ScoreTable:
    """Read a table with one score per row, or with a column for each K, metric or data set.

    An empty, null or NaN score counts as missing, with a warning: its block will be incomplete. A
    competitor without any score is left out.
    If the table has K, the score is taken for a Recall@K, and rows that fall with k or
    lie outside 0 to 100 % are warned of, whichever k is used. Unless a condition names the K, the
    least is used that every block has.

    Args:
        table: the whole table, or a file that `read_table_file` reads.
        options: how it is read; None: by the names of its columns.

    Raises:
        PodiumError: a missing column, a score that is no number, an empty block or competitor, no
            row left, an unknown competitor, or several scores of one competitor in one block.
        CorruptFileError: the file is not what its name says.
    """
    options = options or TableOptions()
    file = table if isinstance(table, TableFile) else read_table_file(table)
    layout, of_k, warnings = _laid_out(file, options)
    return _reduced(file, layout, options, of_k, warnings)


def _reduced(
    file: TableFile,
    layout: Layout,
    options: TableOptions,
    of_k: Sequence[Condition],
    warnings: Sequence[str],
) -> ScoreTable:
    """One row a cell, at one K, of rows at all K."""
    cell, average = [*layout.by, layout.competitor], options.average
    frame, score = layout.frame, layout.score
    has_k = _K in frame.columns and _K not in (*cell, *average) and frame[_K].dtype.is_numeric()
    if has_k:
        check_ks(frame[_K].drop_nulls())
        warnings = (*warnings, *recall_warnings(frame, layout.by, [*cell, *average], score))
    if options.lower_is_better:
        score = f"{layout.score} (negated)"
        frame = frame.with_columns(-pl.col(layout.score)).rename({layout.score: score})
    kept = filter_rows(frame, of_k, source=file.source)
    if has_k and not of_k:
        # The least K that every block has, or that most have.
        blocks = kept.drop_nulls(_K).group_by(_K).agg(pl.struct(layout.by).n_unique().alias("num"))
        least = blocks.filter(pl.col("num") == pl.col("num").max())[_K].min()
        kept = kept.filter(pl.col(_K).eq_missing(least))
    kept, left_out = _without_unscored(kept, layout.competitor, score)
    refuse_duplicates(
        kept, by=layout.by, competitor=layout.competitor, score=score, average=average
    )
    ks = kept[_K].unique().to_list() if has_k else []
    k = int(ks[0]) if len(ks) == 1 and ks[0] is not None else None
    every_k = _every_k(frame, cell, score, average) if has_k else None
    if not average:
        cells = kept.select(*cell, score)
    elif k is not None and every_k is not None:
        cells = every_k.filter(pl.col(_K) == k).drop(_K)
    else:
        cells = _averaged(kept, cell, score)
    copies = () if average else equal_competitors(cells, layout.by, layout.competitor, score)
    unscored = kept.filter(pl.col(score).is_null()).select(cell).unique(maintain_order=True)
    names = ", ".join(map(block_text, unscored.rows()))
    missing = [f"no score, counted as missing: {names}"] if names else []
    omitted = omission_text(cells, by=layout.by, competitor=layout.competitor, score=score)
    return ScoreTable(
        cells=cells,
        runs=kept.select(*cell, *average, score),
        run_columns=tuple(average),
        by=layout.by,
        competitor=layout.competitor,
        score=score,
        warnings=(*warnings, *copies, *left_out, *missing, *omitted),
        k=k,
        every_k=every_k,
        reading=_reading(file, layout, options, cells, k, has_k=has_k),
    )


def _reading(
    file: TableFile,
    layout: Layout,
    options: TableOptions,
    cells: pl.DataFrame,
    k: int | None,
    *,
    has_k: bool,
) -> TableReading:
    """What the columns were taken for; PodiumError if there are too many blocks of them."""
    num_blocks = cells.select(layout.by).n_unique()
    num_competitors = cells[layout.competitor].n_unique()
    if num_blocks * num_competitors > _MOST_PLACES:
        raise PodiumError(
            f"blocks times competitors must be at most {_MOST_PLACES:,}; {file.source} has"
            f" {num_blocks:,} settings and {num_competitors:,} competitors"
        )
    return TableReading(
        by=layout.by,
        blocks=num_blocks,
        competitor=layout.competitor,
        competitors=num_competitors,
        metric=layout.score,
        k=k,
        ks=tuple(layout.frame[_K].drop_nulls().unique().sort()) if has_k else (),
        not_used=layout.unused,
        lower_is_better=options.lower_is_better,
        commas=file.commas,
    )


def _laid_out(
    table: TableFile, options: TableOptions
) -> tuple[Layout, tuple[Condition, ...], tuple[str, ...]]:
    """The rows of a file at all K, the conditions on K, and warnings of what it prints."""
    conditions = [parse_condition(text) for text in options.where or ()]
    of_k = tuple(condition for condition in conditions if condition[0] == _K)
    others = [condition for condition in conditions if condition[0] != _K]
    lost = columns_not_laid_out(table.frame, options)
    early = [condition for condition in others if condition[0] in lost]
    layout = lay_out(filter_file(table, early), options)
    late = [condition for condition in others if condition not in early]
    frame = filter_rows(layout.frame, late, source=table.source)
    keys = [*layout.by, layout.competitor, *options.average]
    keys += [_K] if _K in frame.columns and _K not in keys else []
    frame, warnings = without_doubles(frame, keys)
    for column in (layout.by[0], layout.competitor):
        rest = [name for name in keys if name != column]
        frame, found = without_averages(
            frame, column, rest, layout.score, lower_is_better=options.lower_is_better
        )
        warnings = (*warnings, *found)
    frame = leave_out(
        frame, options.without or (), competitor=layout.competitor, source=table.source
    )
    named = {column for column, _ in conditions}
    unused = tuple(name for name in layout.unused if name not in named)
    return replace(layout, frame=frame, unused=unused), of_k, warnings


def _without_unscored(
    frame: pl.DataFrame, competitor: str, score: str
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The rows of competitors that have a score, and a warning that names the others."""
    if not frame[score].has_nulls():
        return frame, ()
    kept = frame.filter(pl.col(score).is_not_null().any().over(competitor))
    lost = frame.join(kept, on=competitor, how="anti")[competitor].unique(maintain_order=True)
    if lost.is_empty() or kept.is_empty():
        return frame, ()
    return kept, (f"no score at all, left out: {', '.join(map(str, lost))}",)


def _every_k(
    frame: pl.DataFrame, cell: Sequence[str], score: str, average: Sequence[str]
) -> pl.DataFrame | None:
    """Cells at every K; None if a cell has two rows of one K.

    Rows of other K than the selected one are left out rather than refused.
    """
    keys = [*cell, _K]
    known = frame.drop_nulls(_K).with_columns(pl.col(_K).cast(pl.Int64))
    if known.select(*keys, *average).is_duplicated().any():
        return None
    return _averaged(known, keys, score) if average else known.select(*keys, score)


def _averaged(frame: pl.DataFrame, cell: Sequence[str], score: str) -> pl.DataFrame:
    """The mean of each cell, cells in the order of their first rows."""
    mean = pl.col(score).mean().round_sig_figs(CELL_DIGITS)
    return frame.group_by(cell, maintain_order=True).agg(mean)
