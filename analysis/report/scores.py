"""Test scores of the tuned losses by every stored metric, and figures of the ranked one."""

from collections.abc import Iterator, Mapping

import polars as pl

from analysis.figures.series import Series
from analysis.page.html_page import (
    Fold,
    Heading,
    Illustration,
    Paragraph,
    Part,
    Section,
    SideBySide,
    Table,
)
from analysis.report.block_scores import block_scores
from analysis.report.score_lines import BACKBONE, DIMENSION, K, score_figure
from analysis.report.score_tables import Scale, arrange, block_tables, k_tables
from analysis.scores.score_grid import ScoreGrid, study_grid
from analysis.study_results.study_results import StudyResults
from analysis.wording import listed
from orchestrator.results.records.metric_columns import metric_label, metric_word, short_label

_DISTANCE_DIGITS = 4


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
    figure = block_scores(results.tournament, results.tournament_runs, series, word=word)
    return Heading(text="Scores by block"), figure


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
