"""Tables of scores in the layout of papers: losses below each other, blocks beside each other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from podium.analysis.figures.series import Series
from podium.analysis.page.html_page import SideBySide
from podium.analysis.page.tables import Cell, Column, Table, table
from podium.analysis.scores.score_grid import ScoreGrid
from podium.analysis.wording import MISSING, counted, number

_FEW_COLUMNS = 6  # two such tables fit beside each other on a screen
_PAGE_COLUMNS = 8  # of a table that fits on a page of a paper

_DIM = pl.col("dim").map_elements(lambda dim: f"{dim:g}", return_dtype=pl.String)
_PLACE = pl.col("place").replace("", None)
_NONE = pl.lit("")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How scores are shown.

    Attributes:
        word: what the scores are, with their unit: ``Recall@1 in %``.
        heads: heads of columns by K, in the order of the columns; empty for a single K.
        digits: decimals of a score.
        is_larger_better: False if the smallest is the best, as of distances.
    """

    word: str
    heads: Mapping[int, str]
    digits: int = 2
    is_larger_better: bool = True


def block_tables(
    grid: ScoreGrid, series: Mapping[str, Series], scale: Scale, *, name: str
) -> tuple[Table, ...]:
    """One K: a table a data set, columns embedding dimensions under backbones.

    Without dimensions or backbones columns are what there is; with one network for all data sets
    these are the columns of one table, and few columns are one table in any case. The best of each
    column is bold, all of them if several tie; baselines are last and cannot be best.
    """
    if grid.rows.select("backbone", "dim").n_unique() == 1:
        heads = [_joined("backbone", pl.format("{} dimensions", _DIM)), pl.col("place")]
    else:
        network = {"backbone": pl.col("backbone"), "dim": _DIM}
        heads = [
            pl.col("place"),
            *(text for key, text in network.items() if grid.rows[key].count()),
        ]
        if grid.rows["dim"].count():
            scale = replace(scale, word=f"{scale.word} by embedding dimension")
    num_columns = grid.rows.select("place", "backbone", "dim").n_unique()
    if len(heads) == 3 and grid.rows["place"].n_unique() > 1 and num_columns <= _PAGE_COLUMNS:
        heads = [_joined("place", "backbone"), _DIM]
    panel, group, head = [_NONE, _NONE, *heads][-3:]
    rows = grid.rows.with_columns(
        panel=panel, group=group, head=head, major=0.0, minor=pl.col("dim").fill_null(0.0)
    )
    return _tables(rows, series, scale, grid.run_noun, name)


def k_tables(
    grid: ScoreGrid, series: Mapping[str, Series], scale: Scale, *, name: str
) -> tuple[Table, ...]:
    """All K: a table a data set and backbone, columns K under embedding dimensions."""
    orders = {k: order for order, k in enumerate(scale.heads)}
    rows = grid.rows.with_columns(
        panel=_joined(_PLACE, "backbone"),
        group=pl.format("{} dimensions", _DIM).fill_null(""),
        head=pl.col("k").replace_strict(scale.heads, return_dtype=pl.String),
        major=pl.col("dim").fill_null(0.0),
        minor=pl.col("k").replace_strict(orders, return_dtype=pl.Float64),
    )
    return _tables(rows, series, scale, grid.run_noun, name)


def widest(tables: Sequence[Table]) -> int:
    """The number of columns of scores of the widest table; 0 without tables."""
    return max((len(table.columns) - 1 for table in tables), default=0)


def arrange(tables: Sequence[Table]) -> tuple[Table | SideBySide, ...]:
    """Several narrow tables beside each other, others below each other."""
    if len(tables) > 1 and widest(tables) <= _FEW_COLUMNS:
        return (SideBySide(parts=tuple(tables)),)
    return tuple(tables)


def _joined(*texts: str | pl.Expr) -> pl.Expr:
    return pl.concat_str(texts, separator=", ", ignore_nulls=True)


def _tables(
    rows: pl.DataFrame, series: Mapping[str, Series], scale: Scale, noun: str, name: str
) -> tuple[Table, ...]:
    """A table for each ``panel``; columns have a ``head`` below a ``group``."""
    panels = rows.sort("panel", "major", "group", "minor", "head", maintain_order=True)
    return tuple(
        _table(panel, series, scale, noun, f"{name}-{position}")
        for position, panel in enumerate(panels.partition_by("panel", maintain_order=True))
    )


def _table(
    panel: pl.DataFrame, series: Mapping[str, Series], scale: Scale, noun: str, name: str
) -> Table:
    columns = panel.partition_by("major", "group", "minor", "head", maintain_order=True)
    losses = panel.select("is_baseline", "loss").unique().sort("is_baseline", "loss")["loss"]
    return table(
        losses,
        (Column.named("Loss", str, series), *(_column(cells, scale) for cells in columns)),
        name=name,
        caption=_caption(panel, scale, noun),
        note=_missing_note(panel, num_cells=len(columns) * len(losses)),
    )


def _column(cells: pl.DataFrame, scale: Scale) -> Column:
    scores = cells.filter(~pl.col("is_baseline"))["score"]
    best = scores.max() if scale.is_larger_better else scores.min()
    rows = {row["loss"]: row for row in cells.to_dicts()}

    def cell(loss: str) -> Cell:
        row = rows.get(loss)
        if row is None or row["score"] is None:
            return Cell(text="failed" if row and row["num_failed"] else MISSING)
        return Cell(
            text=number(row["score"], scale.digits),
            detail=", ".join(_details(row, scale)),
            is_best=not row["is_baseline"] and row["score"] == best,
            order=row["score"],
        )

    return Column(label=cells["head"][0], group=cells["group"][0], cell=cell)


def _details(row: Mapping[str, Any], scale: Scale) -> Iterator[str]:
    if row["std"] is not None:
        yield f"± {number(row['std'], scale.digits)}"
    if row["num_failed"]:
        yield f"{row['num_failed']} failed"


def _caption(panel: pl.DataFrame, scale: Scale, noun: str) -> str:
    """The scores, how many they are, over how many runs each is the mean, and what is below."""
    name, word = panel["panel"][0], scale.word
    sentence = word[0].upper() + word[1:] if word[:2].islower() else word  # nDCG stays nDCG
    opening = f"{name}: {word}" if name else sentence
    best = "the best loss of each column is bold"
    if panel["is_baseline"].any():
        best += "; features (of the backbone, untouched) and untrained are no losses"
    said = f"{opening}; {best}."
    known = panel.drop_nulls("score").filter(~pl.col("is_baseline"))
    counts = sorted(set(known["num_runs"]) - {0, None})
    if not counts:
        return said
    if counts[-1] == 1:
        return f"{said} {counted(1, noun)} each."
    fewer = "" if counts[0] == counts[-1] else f"{counts[0]} to "
    spread = " and their sample standard deviation" if known["std"].count() else ""
    return f"{said} Mean of {fewer}{counted(counts[-1], noun)}{spread}."


def _missing_note(panel: pl.DataFrame, *, num_cells: int) -> str:
    """How many cells are missing and how many failed; empty if none."""
    failed = panel.filter(pl.col("score").is_null(), pl.col("num_failed") > 0).height
    missing = num_cells - panel["score"].count() - failed
    parts = [f"{counted(missing, 'cell')} missing ({MISSING})"] if missing else []
    if failed:
        parts.append(f"{counted(failed, 'cell')} in which every trial failed")
    return f"{' and '.join(parts)}." if parts else ""
