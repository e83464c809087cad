"""Test scores of the tuned losses by every stored metric, and figures of the ranked one.

Figures are of scores by block, and by embedding dimension, backbone and K, as figures 27 to 31 of
the thesis. B blocks, C competitors, U runs.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from podium.analysis.figures.axis import Axis
from podium.analysis.figures.intervals import IntervalAxis, IntervalRow, intervals_plot
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
# Column of a grid on the x axis -> the label of the axis, and the columns fixed in a panel.
_FACTORS = {
    "dim": ("Embedding dimension", ("backbone",)),
    "backbone": ("Backbone", ("dim",)),
    "k": ("K", ("backbone", "dim")),
}


def scores(results: StudyResults, series: Mapping[str, Series]) -> Section:
    """The section: the score that losses are ranked by, its figures, every K, other metrics."""
    ranked_by, shown = results.ranked_by, results.score_shown
    primary = study_grid(results.ranked_cells, results.trials).at_k(ranked_by.k)
    scale = Scale(word=f"{ranked_by.label} in %", heads={})
    grid = study_grid(results.cells, results.trials)
    parts: list[Part] = []
    if results.further_cells:
        distances = "Mean label distances are in the unit of the labels; the smallest is the best."
        parts.append(Paragraph(text=distances))
    parts += arrange(block_tables(primary, series, scale, name=_table_name(ranked_by.metric)))
    if results.tournament:
        figure = block_scores(results.tournament, series, word=shown)
        parts += [Heading(text="Scores by setting"), figure]
    parts += _score_figures(primary, series, ("dim", "backbone"), word=shown)
    parts += _score_figures(grid, series, ("k",), word=f"{results.metric_word}@K, %")
    if found := results.cells_without_k:
        folded = arrange(_without_k(found, results.trials, series))
        parts.append(Fold(summary="Metrics without K", parts=folded))
    if every_k := tuple(_every_k(results, grid, series)):
        parts.append(Fold(summary="Every K", parts=every_k))
    title = f"{metric_word(ranked_by.metric)}{'@K' if ranked_by.k else ''}"
    return Section(name="recall", title=title, parts=tuple(parts))


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
    dots = f"; small dots: its {tournament.run_noun}s" if has_runs else ""
    others = "" if all(it.position is not None for it in looks) else "; grey: all others"
    return Illustration(
        name="block-scores",
        plots=tuple(
            _plot(tournament, looks, blocks, dataset, position=position, word=word)
            for position, (dataset, blocks) in enumerate(members.items())
        ),
        legend=tuple(look for look in looks if look.position is not None),
        selector="Data set" if len(members) > 1 else "",
        caption=f"Score of each competitor in each of {counted(len(tournament.blocks), 'setting')}"
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
            value=float(tournament.scores_BC[b, c]),
            dots=tuple(runs.tolist()) if len(runs) > 1 else (),  # a single one is its score
        )
        for b in blocks
        for c, look in reversed(list(enumerate(looks)))  # the best lies on top
        for runs in (_known(tournament.runs[b][:, c]),)
    ]
    return intervals_plot(
        rows,
        IntervalAxis(label=word, dots=f"{tournament.run_noun}s"),
        name=f"block-scores-{position}",
        title=f"Scores by setting{dataset and f' of {dataset}'}",
        label=dataset,
    )


def _short(tournament: Tournament, b: int) -> str:
    """The label of a block without its data set, unless that is all of it."""
    parts = [str(value) for key, value in tournament.blocks[b].items() if key != _DATASET]
    return "/".join(parts) or tournament.block_labels[b]


def _known(scores_U: NDArray[np.float64]) -> NDArray[np.float64]:
    return scores_U[np.isfinite(scores_U)]


def _without_k(
    found: Mapping[str, pl.DataFrame], trials: pl.DataFrame, series: Mapping[str, Series]
) -> tuple[Table, ...]:
    """Tables of the metrics without K, beside each other."""
    words = [metric_word(metric) for metric in found]
    # Columns of these tables are metrics where those of others are values of K.
    grids = [study_grid(cells, trials) for cells in found.values()]
    rows = [grid.rows.with_columns(k=pl.lit(column)) for column, grid in enumerate(grids)]
    scale = Scale(word=f"{listed(words)} in %", heads=dict(enumerate(words)))
    grid = ScoreGrid(rows=pl.concat(rows), run_noun=grids[0].run_noun)
    return k_tables(grid, series, scale, name="without-k")


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


def _score_figures(
    grid: ScoreGrid, series: Mapping[str, Series], factors: Sequence[str], *, word: str
) -> Iterator[Heading | Illustration]:
    """The figures there are, each below its heading."""
    for by in factors:
        if figure := score_figure(grid, series, by, word=word):
            yield Heading(text=f"Scores by {_in_text(by)}")
            yield figure


def _in_text(by: str) -> str:
    label, _ = _FACTORS[by]
    return "K" if by == "k" else label.lower()


def score_figure(
    grid: ScoreGrid, series: Mapping[str, Series], by: str, *, word: str
) -> Illustration | None:
    """A panel for each place where the factor has two levels with a score; None without any.

    Args:
        grid: scores at one K, or at every K where that is the factor.
        series: looks of the losses.
        by: column of the grid on the x axis: ``dim``, ``backbone`` or ``k``.
        word: what the scores are, with their unit: ``Recall@1, %``.
    """
    _, fixed = _FACTORS[by]
    place = ("place", *fixed)
    known = (
        grid.rows.filter(~pl.col("is_baseline"))
        .drop_nulls(["score", by])
        .filter(pl.col(by).n_unique().over(place) > 1)
        .sort(*place, by, "loss", nulls_last=True)
    )
    if known.is_empty():
        return None
    band = f"one sample standard deviation over {grid.run_noun}s to either side"
    panels = known.partition_by(place, maintain_order=True)
    return Illustration(
        name=f"by-{_in_text(by).split()[-1].lower()}",
        plots=tuple(
            _lines(panel, series, by, word, position, band=band)
            for position, panel in enumerate(panels)
        ),
        caption=f"{word} of the losses by {_in_text(by)}, n = {counted(len(known), 'score')}."
        + (f" Bands: {band}." if known["std"].count() else ""),
        selector="Setting" if len(panels) > _MOST_PANELS else "",
    )


def _lines(
    panel: pl.DataFrame,
    series: Mapping[str, Series],
    by: str,
    word: str,
    position: int,
    *,
    band: str,
) -> Plot:
    axis, fixed = _FACTORS[by]
    levels = panel.select(pl.col(by).unique().sort())
    texts = [_level_text(level) for level in levels[by]]
    held = [
        f"{_level_text(panel[column][0])}{' dimensions' if column == 'dim' else ''}"
        for column in fixed
        if panel[column][0] is not None
    ]
    title = ", ".join(filter(None, (panel["place"][0], *held))) or axis
    if by == "backbone":
        x, xs = Axis.of_categories(axis, texts), tuple(map(float, range(len(texts))))
    else:
        xs = tuple(map(float, levels[by]))
        x = Axis(label=axis, scale="log", ticks=tuple(zip(xs, texts, strict=True)))
    return lines_plot(
        [
            _line(loss, xs, levels.join(part, on=by, how="left", maintain_order="left"))
            for loss in series
            if not (part := panel.filter(loss=loss)).is_empty()
        ],
        (x, Axis(label=word)),
        name=f"by-{_in_text(by).split()[-1].lower()}-{position}",
        label=title,
        title=f"{word} by {_in_text(by)}: {title}",
        band=band,
        style="points",
    )


def _level_text(value: object) -> str:
    """A backbone's name, or a dimension without decimals."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _line(loss: str, xs: Sequence[float], rows: pl.DataFrame) -> Line:
    """The scores of one loss, a gap where there is none."""
    score, std = rows["score"], rows["std"]
    return Line(
        name=loss,
        xs=xs,
        ys=score.to_list(),
        lows=(score - std).to_list() if std.count() else (),
        highs=(score + std).to_list() if std.count() else (),
    )


def table_scores(results: TableResults, series: Mapping[str, Series]) -> Section:
    """The table itself, as papers print it, and figures of it.

    A table of very many blocks has its blocks below each other instead.
    """
    grid = table_grid(results.table)
    word = results.score if results.table.k is None else f"{results.score}@{results.table.k}"
    printed = block_tables(grid, series, Scale(word=word, heads={}), name="scores")
    if widest(printed) > _MOST_COLUMNS:
        printed = (_score_table(results.tournament, series, score=results.score),)
    return Section(
        name="table",
        title="Scores",
        parts=(
            *arrange(printed),
            Heading(text="Scores by setting"),
            block_scores(results.tournament, series, word=word),
            *_score_figures(grid, series, ("dim", "backbone"), word=word[0].upper() + word[1:]),
            *_table_every_k(results, series),
        ),
    )


def _table_every_k(results: TableResults, series: Mapping[str, Series]) -> Iterator[Part]:
    """Figures and tables of the scores at all K of the file."""
    grid = every_k_grid(results.table)
    if grid is None:
        return
    word = f"{results.score[0].upper()}{results.score[1:]}@K"
    yield from _score_figures(grid, series, ("k",), word=word)
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
        " each setting is bold",
    )
