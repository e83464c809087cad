"""Test scores of the tuned losses: Recall@K, or nDCG@K of continuous labels, and figures."""

from collections.abc import Iterator, Mapping

from analysis.figures.style import Series
from analysis.page.html_page import Fold, Heading, Illustration, Paragraph, Part, Section, Table
from analysis.report.fairness import fairness_note
from analysis.report.score_lines import backbone_figure, dimension_figure
from analysis.report.score_tables import Scale, arrange, block_tables, k_tables
from analysis.scores.score_grid import ScoreGrid, study_grid
from analysis.study_results.study_results import StudyResults
from orchestrator.results.records.metric_columns import metric_label, metric_word, short_label

_DISTANCE_DIGITS = 4


def scores(results: StudyResults, series: Mapping[str, Series]) -> Section:
    """The section: the primary K by data set, backbone and dimension, its figures, every K."""
    grid = study_grid(results.cells, results.trials)
    primary = grid.at_k(results.k)
    scale = Scale(word=f"{results.metric} in %", heads={})
    every_k = tuple(_every_k(results, grid, series))
    return Section(
        name="recall",
        title=f"{results.metric_word}@K on unseen classes",
        label=f"{results.metric_word}@K",
        parts=(
            Paragraph(text=_introduction(results)),
            *fairness_note(results),
            *arrange(block_tables(primary, series, scale, name=results.objective)),
            *score_figures(primary, series, word=f"{results.metric}, %"),
            *((Fold(summary="Every K", parts=every_k),) if every_k else ()),
        ),
    )


def score_figures(
    grid: ScoreGrid, series: Mapping[str, Series], *, word: str
) -> tuple[Heading | Illustration, ...]:
    """Scores by embedding dimension and by backbone, where there are several.

    Args:
        grid: scores at one K.
        series: looks of the losses.
        word: what the scores are, with their unit: ``Recall@1, %``.
    """
    parts: list[Heading | Illustration] = []
    for title, figure in (
        ("Scores by embedding dimension", dimension_figure(grid, series, word=word)),
        ("Scores by backbone", backbone_figure(grid, series, word=word)),
    ):
        if figure is not None:
            parts += [Heading(text=title), figure]
    return tuple(parts)


def _introduction(results: StudyResults) -> str:
    text = (
        "Tuned losses on the test classes, in %: the mean over seeds, and below it their sample"
        " standard deviation. The untrained network is last and is never marked as the best."
    )
    if results.further_cells:
        text += (
            " Mean label distances are in the unit of the labels; there the smallest is the best."
        )
    return text


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
) -> tuple[Table, ...]:
    return k_tables(grid, series, scale, name=f"every-k-{metric.replace('_', '-')}")
