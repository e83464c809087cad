"""Test scores of the tuned losses by every stored metric, and figures of the ranked one.

Figures are of scores by block, and by embedding dimension, backbone and K, as figures 27 to 31 of
the thesis. B blocks, C competitors, U runs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from podium.analysis.figures.axis import Axis
from podium.analysis.figures.estimate import Estimate
from podium.analysis.figures.intervals import (
    IntervalAxis,
    IntervalRow,
    IntervalWords,
    intervals_plot,
)
from podium.analysis.figures.lines import Line, lines_plot
from podium.analysis.figures.plot import Plot
from podium.analysis.figures.series import Series
from podium.analysis.page.html_page import (
    Fold,
    Heading,
    Illustration,
    Paragraph,
    Part,
    Section,
    SideBySide,
)
from podium.analysis.page.tables import Column, Table, table
from podium.analysis.report.score_tables import Scale, arrange, block_tables, k_tables, widest
from podium.analysis.scores.score_grid import ScoreGrid, every_k_grid, study_grid, table_grid
from podium.analysis.study_results.study_results import StudyResults
from podium.analysis.tournament.table_tournament import TableResults
from podium.analysis.tournament.tournament import Tournament
from podium.analysis.wording import counted, listed
from podium.orchestrator.results.records.metric_columns import (
    metric_label,
    metric_word,
    short_label,
)

_DISTANCE_DIGITS = 4
_DATASET = "dataset"
_MOST_COLUMNS = 24  # of the blocks of a published table beside each other
_MOST_TOGETHER = 16  # blocks in one plot, whatever their data sets
_MOST_PANELS = 6  # beside each other; of more, one is shown at a time


def scores(results: StudyResults, series: Mapping[str, Series]) -> Section:
    """The section: the score that losses are ranked by, its figures, every K, other metrics."""
    ranked_by = results.ranked_by
    primary = study_grid(results.ranked_cells, results.trials).at_k(ranked_by.k)
    scale = Scale(word=f"{ranked_by.label} in %", heads={})
    grid = study_grid(results.cells, results.trials)
    every_k = tuple(_every_k(results, grid, series))
    title = f"{metric_word(ranked_by.metric)}{'@K' if ranked_by.k else ''}"
    return Section(
        name="recall",
        title=title,
        parts=(
            *_introduction(results),
            *arrange(block_tables(primary, series, scale, name=_table_name(ranked_by.metric))),
            *_by_block(results, series),
            *score_figures(primary, series, word=f"{ranked_by.label}, %"),
            *k_figures(grid, series, word=f"{results.metric_word}@K, %"),
            *_folded("Metrics without K", _without_k(results, series)),
            *_folded("Every K", every_k),
        ),
    )


def _by_block(results: StudyResults, series: Mapping[str, Series]) -> tuple[Part, ...]:
    if results.tournament is None:
        return ()
    word = f"{results.ranked_by.label}, %"
    figure = block_scores(results.tournament, series, word=word)
    return Heading(text="Scores by block"), figure


def block_scores(
    tournament: Tournament, series: Mapping[str, Series], *, word: str
) -> Illustration:
    """One line a block; of many blocks one data set at a time.

    Args:
        tournament: the tournament whose scores are shown.
        series: look of each competitor.
        word: what the scores are, with their unit: ``Recall@1, %``.
    """
    has_datasets = _DATASET in tournament.by and len(tournament.blocks) > _MOST_TOGETHER
    members: dict[str, list[int]] = {}
    for b, block in enumerate(tournament.blocks):
        members.setdefault(str(block[_DATASET]) if has_datasets else "", []).append(b)
    looks = [series[name] for name in tournament.names]
    has_runs = any(len(scores_UC) > 1 for scores_UC in tournament.runs)
    dots = "; small dots: its runs" if has_runs else ""
    others = "" if all(it.position is not None for it in looks) else "; grey: all others"
    return Illustration(
        name="block-scores",
        plots=tuple(
            _plot(tournament, looks, blocks, dataset, position=position, word=word)
            for position, (dataset, blocks) in enumerate(members.items())
        ),
        legend=tuple(look for look in looks if look.position is not None),
        selector="Data set" if len(members) > 1 else "",
        caption=f"Score of each competitor in each of {counted(len(tournament.blocks), 'block')}"
        f"{dots}{others}.",
    )


def _plot(
    tournament: Tournament,
    looks: list[Series],
    blocks: list[int],
    dataset: str,
    *,
    position: int,
    word: str,
) -> Plot:
    rows = [
        IntervalRow(
            name=_short(tournament, b) if dataset else tournament.block_labels[b],
            series=look,
            estimate=Estimate(value=float(tournament.scores_BC[b, c])),
            dots=_dots(tournament.runs[b][:, c]),
        )
        for b in blocks
        for c, look in reversed(list(enumerate(looks)))  # the best lies on top
    ]
    return intervals_plot(
        rows,
        IntervalAxis(label=word),
        IntervalWords(value=word, dots="runs"),
        name=f"block-scores-{position}",
        title=f"Scores by block{dataset and f' of {dataset}'}",
        description="One line for each block with the score of each competitor and of its runs."
        " The means are in the tables of scores.",
        label=dataset,
    )


def _short(tournament: Tournament, b: int) -> str:
    """The label of a block without its data set, unless that is all of it."""
    parts = [str(value) for key, value in tournament.blocks[b].items() if key != _DATASET]
    return "/".join(parts) or tournament.block_labels[b]


def _dots(scores_U: NDArray[np.float64]) -> tuple[float, ...]:
    """The runs of a cell; none of a single one, which is its score."""
    known = scores_U[np.isfinite(scores_U)]
    return tuple(known.tolist()) if len(known) > 1 else ()


def _folded(summary: str, parts: tuple[Part, ...]) -> tuple[Fold, ...]:
    return (Fold(summary=summary, parts=parts),) if parts else ()


def score_figures(
    grid: ScoreGrid, series: Mapping[str, Series], *, word: str
) -> tuple[Heading | Illustration, ...]:
    """Scores by embedding dimension and by backbone, where there are several.

    Args:
        grid: scores at one K.
        series: looks of the losses.
        word: what the scores are, with their unit: ``Recall@1, %``.
    """
    return _titled(
        ("Scores by embedding dimension", score_figure(grid, series, DIMENSION, word=word)),
        ("Scores by backbone", score_figure(grid, series, BACKBONE, word=word)),
    )


def k_figures(
    grid: ScoreGrid, series: Mapping[str, Series], *, word: str
) -> tuple[Heading | Illustration, ...]:
    """Scores by K, where there are several.

    Args:
        grid: scores at every K.
        series: looks of the losses.
        word: what the scores are, with their unit: ``Recall@K, %``.
    """
    return _titled(("Scores by K", score_figure(grid, series, K, word=word)))


def _titled(*figures: tuple[str, Illustration | None]) -> tuple[Heading | Illustration, ...]:
    """The figures there are, each below its heading."""
    parts: list[Heading | Illustration] = []
    for title, figure in figures:
        if figure is not None:
            parts += [Heading(text=title), figure]
    return tuple(parts)


def _introduction(results: StudyResults) -> tuple[Paragraph, ...]:
    if not results.further_cells:
        return ()
    text = "Mean label distances are in the unit of the labels; there the smallest is the best."
    return (Paragraph(text=text),)


def _without_k(results: StudyResults, series: Mapping[str, Series]) -> tuple[Part, ...]:
    """Tables of the metrics without K, beside each other; nothing if finals have none."""
    found = results.cells_without_k
    if not found:
        return ()
    words = [metric_word(metric) for metric in found]
    # Columns of these tables are metrics where those of others are values of K.
    grids = [study_grid(cells, results.trials) for cells in found.values()]
    rows = [grid.rows.with_columns(k=pl.lit(column)) for column, grid in enumerate(grids)]
    scale = Scale(word=f"{listed(words)} in %", heads=dict(enumerate(words)))
    grid = ScoreGrid(rows=pl.concat(rows), run_noun=grids[0].run_noun)
    return arrange(k_tables(grid, series, scale, name="without-k"))


def _every_k(
    results: StudyResults, grid: ScoreGrid, series: Mapping[str, Series]
) -> Iterator[Part]:
    """Tables of all K, and of further metrics; nothing with a single K and metric."""
    objective = results.objective
    if len(results.ks) > 1:
        yield from _k_tables(
            grid,
            series,
            Scale(
                word=f"{results.metric_word}@K in %",
                heads={k: short_label(objective, k) for k in results.ks},
            ),
            objective,
        )
    for name, cells in results.further_cells.items():
        scale = Scale(
            word=f"{metric_word(name)} at K",
            heads={k: metric_label(name, k) for k in results.ks},
            digits=_DISTANCE_DIGITS,
            is_larger_better=False,
        )
        yield from _k_tables(
            study_grid(cells, results.trials, in_percent=False), series, scale, name
        )


def _k_tables(
    grid: ScoreGrid, series: Mapping[str, Series], scale: Scale, metric: str
) -> tuple[Table | SideBySide, ...]:
    return arrange(k_tables(grid, series, scale, name=f"every-k-{_table_name(metric)}"))


def _table_name(metric: str) -> str:
    return metric.replace("_", "-")


_Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """The factor on the x axis, and the factors that are held fixed in a panel.

    Attributes:
        name: name of the factor, for names of figures.
        column: column of the grid that holds the factor.
        fixed: columns of the grid by which panels of one data set differ.
        axis: label of the x axis.
    """

    name: str
    column: str
    fixed: tuple[str, ...]
    axis: str


DIMENSION = Factor(name="dimension", column="dim", fixed=("backbone",), axis="Embedding dimension")
BACKBONE = Factor(name="backbone", column="backbone", fixed=("dim",), axis="Backbone")
K = Factor(name="k", column="k", fixed=("backbone", "dim"), axis="K")


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
            _lines(panel, series, factor, word, position, band=band)
            for position, panel in enumerate(panels)
        ),
        caption=f"{word} of the losses by {_in_text(factor)}, n = {counted(len(rows), 'score')}."
        + (f" Bands: {band}." if has_spread else ""),
        selector="Block" if len(panels) > _MOST_PANELS else "",
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
    return {value: _level_text(value) for value in sorted({row[factor.column] for row in rows})}


def _axis(levels: Mapping[Any, str], factor: Factor) -> Axis:
    """Dimensions and K on a logarithmic axis, backbones by name."""
    if factor.column == "backbone":
        return Axis.of_categories(factor.axis, list(levels.values()))
    ticks = tuple((float(value), text) for value, text in levels.items())
    return Axis(label=factor.axis, scale="log", ticks=ticks)


def _title(panel: Sequence[_Row], factor: Factor) -> str:
    """What is held fixed in the panel."""
    fixed = [
        f"{_level_text(panel[0][column])}{' dimensions' if column == 'dim' else ''}"
        for column in factor.fixed
        if panel[0][column] is not None
    ]
    return ", ".join(part for part in (panel[0]["place"], *fixed) if part) or factor.axis


def _level_text(value: object) -> str:
    """A backbone's name, or a dimension without decimals."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _lines(
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
        description="One line for each loss. The numbers are in the tables of scores.",
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


def table_scores(results: TableResults, series: Mapping[str, Series]) -> Section:
    """The table itself, as papers print it, and figures of it.

    A table of very many blocks has its blocks below each other instead.
    """
    grid = table_grid(results.table)
    word = _score_word(results)
    printed = block_tables(grid, series, Scale(word=word, heads={}), name="scores")
    if widest(printed) > _MOST_COLUMNS:
        printed = (_score_table(results.tournament, series, score=results.score),)
    return Section(
        name="table",
        title="Scores",
        parts=(
            *arrange(printed),
            Heading(text="Scores by block"),
            block_scores(results.tournament, series, word=_score_word(results)),
            *score_figures(grid, series, word=word[0].upper() + word[1:]),
            *_table_every_k(results, series),
        ),
    )


def _score_word(results: TableResults) -> str:
    """``recall``, or ``recall@1`` where the file says of which K."""
    k = results.table.k
    return results.score if k is None else f"{results.score}@{k}"


def _table_every_k(results: TableResults, series: Mapping[str, Series]) -> Iterator[Part]:
    """Figures and tables of the scores at all K of the file."""
    grid = every_k_grid(results.table)
    if grid is None:
        return
    yield from k_figures(grid, series, word=f"{results.score[0].upper()}{results.score[1:]}@K")
    heads = {k: f"@{k}" for k in sorted(grid.rows["k"].unique().to_list())}
    scale = Scale(word=f"{results.score} at every K of the file", heads=heads)
    yield Fold(summary="Every K", parts=k_tables(grid, series, scale, name="every-k"))


def _score_table(tournament: Tournament, series: Mapping[str, Series], *, score: str) -> Table:
    """Rows blocks, columns competitors, best first; the best of each block in bold."""

    def scores_of(c: int, name: str) -> Column:
        return Column.number(
            name,
            lambda row: row[1][c],
            best=lambda row: row[1][c] == max(row[1]),
            series=series[name],
        )

    return table(
        zip(tournament.block_labels, tournament.scores_BC.tolist(), strict=True),
        (
            Column.text("/".join(tournament.by), 0),
            *(scores_of(c, name) for c, name in enumerate(tournament.names)),
        ),
        name="scores",
        caption=f"{score}: the {counted(tournament.scores_BC.size, 'score')} ranked; the best of"
        " each block is bold",
    )
