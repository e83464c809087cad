"""Scores by embedding dimension and by backbone, as figures 27 to 31 of the thesis."""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from markupsafe import Markup

from analysis.figures.score_lines import Level, ScoreLine, draw_score_lines
from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Illustration, Table
from analysis.scores.score_grid import ScoreGrid
from analysis.wording import MISSING, counted

_MARGIN = 0.06

_Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Factor:
    """The factor on the x axis, and the factor that is held fixed in a panel.

    Attributes:
        name: name of the factor, for names of figures.
        column: column of the grid that holds the factor.
        fixed: column of the grid by which panels of one data set differ.
        axis: label of the x axis.
        fixed_head: head of the column of the fixed factor.
        remark: sentence on the axis, for the caption.
        contrast_head: head of the column of contrasts.
        contrast: contrast of the scores of a row, at least two, in the order of levels.
    """

    name: str
    column: str
    fixed: str
    axis: str
    fixed_head: str
    remark: str
    contrast_head: str
    contrast: Callable[[Sequence[float]], float]


_DIMENSION = _Factor(
    name="dimension",
    column="dim",
    fixed="backbone",
    axis="Embedding dimension",
    fixed_head="Backbone",
    remark="The axis of dimensions is logarithmic.",
    contrast_head="Largest minus smallest dimension",
    contrast=lambda scores: scores[-1] - scores[0],
)
_BACKBONE = _Factor(
    name="backbone",
    column="backbone",
    fixed="dim",
    axis="Backbone",
    fixed_head="Dimension",
    remark="Backbones are in alphabetical order; lines only lead the eye from one to the next.",
    contrast_head="Best minus worst backbone",
    contrast=lambda scores: max(scores) - min(scores),
)


def dimension_figure(
    grid: ScoreGrid, series: Mapping[str, Series], *, word: str
) -> Illustration | None:
    """A panel for each data set and backbone; None if nowhere are there two dimensions.

    Args:
        grid: scores at one K.
        series: looks of the losses.
        word: what the scores are, with their unit: ``Recall@1, %``.
    """
    return _figure(grid, series, _DIMENSION, word)


def backbone_figure(
    grid: ScoreGrid, series: Mapping[str, Series], *, word: str
) -> Illustration | None:
    """A panel for each data set and dimension; None if nowhere are there two backbones."""
    return _figure(grid, series, _BACKBONE, word)


def _figure(
    grid: ScoreGrid, series: Mapping[str, Series], factor: _Factor, word: str
) -> Illustration | None:
    panels = _panels(grid, factor)
    if not panels:
        return None
    rows = [row for panel in panels for row in panel]
    has_spread = any(row["std"] is not None for row in rows)
    bars = (
        f" Bars are one sample standard deviation over {grid.run_noun}s to either side; lines"
        " are moved sideways so that bars do not hide each other."
        if has_spread
        else ""
    )
    return Illustration(
        name=f"by-{factor.name}",
        plots=tuple(
            _plot(panel, _y_range(panels, panel), series, factor, word, position)
            for position, panel in enumerate(panels)
        ),
        caption=f"{word} of the losses by {factor.axis.lower()}: {counted(len(panels), 'panel')},"
        f" n = {counted(len(rows), 'score')}.{bars} {factor.remark} Panels of one data set have"
        " the same scale, which does not begin at zero.",
        legend=tuple(series[loss] for loss in sorted({row["loss"] for row in rows})),
        table=_table(panels, series, factor, word),
    )


def _panels(grid: ScoreGrid, factor: _Factor) -> list[list[dict[str, Any]]]:
    """Rows of every panel that has two levels with a score."""
    known = grid.rows.filter(
        pl.col("score").is_not_null(), pl.col(factor.column).is_not_null(), ~pl.col("is_baseline")
    ).sort("place", factor.fixed, factor.column, "loss", nulls_last=True)
    parts = known.partition_by("place", factor.fixed, maintain_order=True)
    return [part.to_dicts() for part in parts if part[factor.column].n_unique() > 1]


def _y_range(panels: Sequence[Sequence[_Row]], panel: Sequence[_Row]) -> tuple[float, float]:
    """The range of scores in all panels of the panel's data set, with a margin."""
    rows = [row for other in panels for row in other if row["place"] == panel[0]["place"]]
    low = min(row["score"] - (row["std"] or 0.0) for row in rows)
    high = max(row["score"] + (row["std"] or 0.0) for row in rows)
    margin = _MARGIN * (high - low) or 1.0
    return low - margin, high + margin


def _levels(rows: Sequence[_Row], factor: _Factor) -> dict[Any, Level]:
    values = sorted({row[factor.column] for row in rows})
    if factor.column == "dim":
        return {dim: Level(position=math.log2(dim), label=f"{dim:g}") for dim in values}
    return {name: Level(position=order, label=name) for order, name in enumerate(values)}


def _title(panel: Sequence[_Row], factor: _Factor) -> str:
    fixed = panel[0][factor.fixed]
    unit = " dimensions" if factor.fixed == "dim" else ""
    parts = (panel[0]["place"], "" if fixed is None else f"{_text(fixed)}{unit}")
    return ", ".join(part for part in parts if part) or factor.axis


def _text(value: object) -> str:
    """A backbone's name, or a dimension without decimals."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _plot(
    panel: Sequence[_Row],
    y_range: tuple[float, float],
    series: Mapping[str, Series],
    factor: _Factor,
    word: str,
    position: int,
) -> Markup:
    levels = _levels(panel, factor)
    found = {(row["loss"], row[factor.column]): row for row in panel}
    lines = [
        ScoreLine(
            series=series[loss],
            scores=tuple(_value(found.get((loss, level)), "score") for level in levels),
            stds=tuple(_value(found.get((loss, level)), "std") for level in levels),
        )
        for loss in sorted({row["loss"] for row in panel})
    ]
    return draw_score_lines(
        lines,
        list(levels.values()),
        title=_title(panel, factor),
        x_label=factor.axis,
        y_label=word,
        y_range=y_range,
        name=f"by-{factor.name}-{position}",
    )


def _value(row: _Row | None, column: str) -> float | None:
    return None if row is None else row[column]


def _table(
    panels: Sequence[Sequence[_Row]], series: Mapping[str, Series], factor: _Factor, word: str
) -> Table:
    """Rows losses of panels, columns levels, then the contrast between levels."""
    levels = _levels([row for panel in panels for row in panel], factor)
    rows = [
        _table_row(loss, list(found), panel, series, factor, list(levels))
        for panel in panels
        for loss, found in itertools.groupby(
            sorted(panel, key=lambda row: str(row["loss"])), key=lambda row: str(row["loss"])
        )
    ]
    return Table(
        name=f"by-{factor.name}-table",
        caption=f"{word} by {factor.axis.lower()}",
        columns=(
            *Column.texts("Data set"),
            Column(label=factor.fixed_head, is_number=factor.fixed == "dim"),
            *Column.texts("Loss"),
            *(Column(label=level.label, group=factor.axis) for level in levels.values()),
            *Column.numbers(factor.contrast_head),
        ),
        rows=tuple(rows),
        is_sortable=True,
    )


def _table_row(
    loss: str,
    found: Sequence[_Row],
    panel: Sequence[_Row],
    series: Mapping[str, Series],
    factor: _Factor,
    levels: Sequence[Any],
) -> tuple[Cell, ...]:
    """The contrast is known only where the loss has a score at every level of its panel."""
    scores = {row[factor.column]: row["score"] for row in found}
    known = [scores[level] for level in levels if level in scores]
    is_whole = set(scores) == {row[factor.column] for row in panel}
    contrast = factor.contrast(known) if is_whole else None
    place, fixed = panel[0]["place"], panel[0][factor.fixed]
    return (
        Cell(text=place or MISSING, order=place),
        Cell(text=MISSING if fixed is None else _text(fixed), order=fixed),
        Cell.named(loss, series),
        *(Cell.number(scores.get(level)) for level in levels),
        Cell.signed(contrast),
    )
