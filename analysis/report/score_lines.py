"""Scores by embedding dimension, backbone and K, as figures 27 to 31 of the thesis."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from analysis.figures.axis import Axis
from analysis.figures.lines import Line, lines_plot
from analysis.figures.plot import Plot
from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Illustration, Table
from analysis.scores.score_grid import ScoreGrid
from analysis.wording import MISSING, counted

_MOST_PANELS = 6  # beside each other; of more, one is shown at a time

_Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """The factor on the x axis, and the factors that are held fixed in a panel.

    Attributes:
        name: name of the factor, for names of figures.
        column: column of the grid that holds the factor.
        fixed: columns of the grid by which panels of one data set differ.
        axis: label of the x axis.
        fixed_heads: heads of the columns of the fixed factors.
        contrast_head: head of the column of contrasts.
        contrast: contrast of the scores of a row, at least two, in the order of levels.
    """

    name: str
    column: str
    fixed: tuple[str, ...]
    axis: str
    fixed_heads: tuple[str, ...]
    contrast_head: str
    contrast: Callable[[Sequence[float]], float]


DIMENSION = Factor(
    name="dimension",
    column="dim",
    fixed=("backbone",),
    axis="Embedding dimension",
    fixed_heads=("Backbone",),
    contrast_head="Largest minus smallest dimension",
    contrast=lambda scores: scores[-1] - scores[0],
)
BACKBONE = Factor(
    name="backbone",
    column="backbone",
    fixed=("dim",),
    axis="Backbone",
    fixed_heads=("Dimension",),
    contrast_head="Best minus worst backbone",
    contrast=lambda scores: max(scores) - min(scores),
)
K = Factor(
    name="k",
    column="k",
    fixed=("backbone", "dim"),
    axis="K",
    fixed_heads=("Backbone", "Dimension"),
    contrast_head="Largest minus smallest K",
    contrast=lambda scores: scores[-1] - scores[0],
)


def score_figure(
    grid: ScoreGrid, series: Mapping[str, Series], factor: Factor, *, word: str
) -> Illustration | None:
    """A panel for each place where the factor has two levels with a score; None without any.

    Args:
        grid: scores at one K, or at every K where that is the factor.
        series: looks of the losses.
        factor: `DIMENSION`, `BACKBONE` or `K`.
        word: what the scores are, with their unit: ``Recall@1, %``.
    """
    panels = _panels(grid, factor)
    if not panels:
        return None
    rows = [row for panel in panels for row in panel]
    has_spread = any(row["std"] is not None for row in rows)
    band = f"one sample standard deviation over {grid.run_noun}s to either side"
    return Illustration(
        name=f"by-{factor.name}",
        plots=tuple(
            _plot(panel, series, factor, word, position, band=band)
            for position, panel in enumerate(panels)
        ),
        caption=f"{word} of the losses by {_in_text(factor)}, n = {counted(len(rows), 'score')}."
        + (f" Bands: {band}." if has_spread else ""),
        selector="Block" if len(panels) > _MOST_PANELS else "",
        table=_table(panels, series, factor, word),
    )


def _in_text(factor: Factor) -> str:
    return "K" if factor.column == "k" else factor.axis.lower()


def _panels(grid: ScoreGrid, factor: Factor) -> list[list[dict[str, Any]]]:
    """Rows of every panel that has two levels with a score."""
    known = grid.rows.filter(
        pl.col("score").is_not_null(), pl.col(factor.column).is_not_null(), ~pl.col("is_baseline")
    ).sort("place", *factor.fixed, factor.column, "loss", nulls_last=True)
    parts = known.partition_by("place", *factor.fixed, maintain_order=True)
    return [part.to_dicts() for part in parts if part[factor.column].n_unique() > 1]


def _levels(rows: Sequence[_Row], factor: Factor) -> dict[Any, str]:
    """Value of each level, in order, and its text."""
    return {value: _text(value) for value in sorted({row[factor.column] for row in rows})}


def _axis(levels: Mapping[Any, str], factor: Factor) -> Axis:
    """Dimensions and K on a logarithmic axis, backbones by name."""
    if factor.column == "backbone":
        return Axis.of_categories(factor.axis, list(levels.values()))
    ticks = tuple((float(value), text) for value, text in levels.items())
    return Axis(label=factor.axis, scale="log", ticks=ticks)


def _title(panel: Sequence[_Row], factor: Factor) -> str:
    """What is held fixed in the panel."""
    fixed = [
        f"{_text(panel[0][column])}{' dimensions' if column == 'dim' else ''}"
        for column in factor.fixed
        if panel[0][column] is not None
    ]
    return ", ".join(part for part in (panel[0]["place"], *fixed) if part) or factor.axis


def _text(value: object) -> str:
    """A backbone's name, or a dimension without decimals."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _plot(
    panel: Sequence[_Row],
    series: Mapping[str, Series],
    factor: Factor,
    word: str,
    position: int,
    *,
    band: str,
) -> Plot:
    levels = _levels(panel, factor)
    of_loss = {
        loss: {row[factor.column]: row for row in panel if row["loss"] == loss}
        for loss in series
        if any(row["loss"] == loss for row in panel)
    }
    is_named = factor.column == "backbone"
    xs = tuple(float(order if is_named else level) for order, level in enumerate(levels))
    return lines_plot(
        [
            _line(loss, xs, [found.get(level) for level in levels])
            for loss, found in of_loss.items()
        ],
        x=_axis(levels, factor),
        y=Axis(label=word),
        name=f"by-{factor.name}-{position}",
        label=_title(panel, factor),
        title=f"{word} by {_in_text(factor)}: {_title(panel, factor)}",
        description="One line for each loss.",
        band=band,
        has_points=True,
    )


def _line(loss: str, xs: Sequence[float], rows: Sequence[_Row | None]) -> Line:
    """The scores of one loss, a gap where there is none."""
    has_spread = any(row and row["std"] is not None for row in rows)
    return Line(
        name=loss,
        xs=xs,
        ys=tuple(row["score"] if row else None for row in rows),
        lows=tuple(_end(row, -1) for row in rows) if has_spread else (),
        highs=tuple(_end(row, 1) for row in rows) if has_spread else (),
    )


def _end(row: _Row | None, side: int) -> float | None:
    if row is None or row["std"] is None:
        return None
    end: float = row["score"] + side * row["std"]
    return end


def _table(
    panels: Sequence[Sequence[_Row]], series: Mapping[str, Series], factor: Factor, word: str
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
        caption=f"{word} by {_in_text(factor)}",
        columns=(
            *Column.texts("Data set"),
            *(
                Column(label=head, is_number=column == "dim")
                for column, head in zip(factor.fixed, factor.fixed_heads, strict=True)
            ),
            *Column.texts("Loss"),
            *(Column(label=text, group=factor.axis) for text in levels.values()),
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
    factor: Factor,
    levels: Sequence[Any],
) -> tuple[Cell, ...]:
    """The contrast is known only where the loss has a score at every level of its panel."""
    scores = {row[factor.column]: row["score"] for row in found}
    known = [scores[level] for level in levels if level in scores]
    is_whole = set(scores) == {row[factor.column] for row in panel}
    contrast = factor.contrast(known) if is_whole else None
    place = panel[0]["place"]
    fixed = [panel[0][column] for column in factor.fixed]
    return (
        Cell(text=place or MISSING, order=place),
        *(Cell(text=MISSING if value is None else _text(value), order=value) for value in fixed),
        Cell.named(loss, series),
        *(Cell.number(scores.get(level)) for level in levels),
        Cell.signed(contrast),
    )
