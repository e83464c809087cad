"""The report of a study, and the page of a published table: which sections, in which order.

Each section is a module of this room with a function of the module's name.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from threadpoolctl import threadpool_limits

from analysis.figures.series import Series, series_of
from analysis.page.html_page import (
    Heading,
    NotShown,
    Page,
    Paragraph,
    Part,
    Section,
    render_page,
)
from analysis.page.page_limits import within_limits
from analysis.report.compute_cost import compute_cost
from analysis.report.cross_validation import cross_validation
from analysis.report.embedding_maps import embedding_maps
from analysis.report.fairness import fairness
from analysis.report.hyperparameters import hyperparameters
from analysis.report.leaderboard import leaderboard
from analysis.report.learning_curves import learning_curves
from analysis.report.loss_groups import loss_groups, table_loss_groups
from analysis.report.methods import methods, table_methods
from analysis.report.pairwise_comparisons import pairwise_comparisons
from analysis.report.protocols import protocols
from analysis.report.provenance import provenance
from analysis.report.published_table import (
    table_leaderboard,
    table_pairwise_comparisons,
    table_scores,
)
from analysis.report.rankings import rankings, table_rankings
from analysis.report.reproduction import reproduction
from analysis.report.retrievals import retrievals
from analysis.report.scores import scores
from analysis.report.search_history import pareto_front_table, search_history
from analysis.report.summary import study_summary, table_summary
from analysis.report.tuning_gains import tuning_gains
from analysis.report.validation_and_test import validation_and_test
from analysis.report.variance_components import variance_components
from analysis.report.verification import verification
from analysis.study_results.study_results import StudyResults, read_results
from analysis.tournament.table_tournament import TableResults
from analysis.wording import counted
from orchestrator.results.storage.locations import Place


def _training(results: StudyResults, series: Mapping[str, Series]) -> Section:
    """The section: learning curves of finals."""
    curves = learning_curves(results, series)
    parts = _or_reason((curves,) if curves else (), _no_curve_reason(results))
    return Section(name="training", title="Learning curves", parts=tuple(parts))


def _agreement(results: StudyResults, series: Mapping[str, Series]) -> Section:
    """The section: validation of finalists against their test."""
    parts = validation_and_test(results, series)
    reason = "No finalist has both a validation score and a test score."
    return Section(
        name="agreement", title="Validation against test", parts=tuple(_or_reason(parts, reason))
    )


def _searches(results: StudyResults, series: Mapping[str, Series]) -> Section:
    """The section: search histories, and Pareto fronts where time is an objective."""
    history = search_history(results, series)
    fronts = pareto_front_table(results, series)
    front_parts = (Heading(text="Pareto front of score and training time"), fronts)
    return Section(
        name="searches",
        title="Search history",
        parts=(
            *_or_reason((history,) if history else (), "No search trial has a score yet."),
            *(front_parts if fronts else ()),
        ),
    )


def _no_curve_reason(results: StudyResults) -> str:
    """Why no curve can be drawn: nothing was retrained, or only on all training classes."""
    if results.selection.is_empty():
        return "No winner has been retrained yet."
    return "Winners were retrained without validation classes, so they have no validation curve."


def _or_reason(parts: Sequence[Part], reason: str) -> Sequence[Part]:
    return parts or (Paragraph(text=reason),)


_StudySection = Callable[[StudyResults, Mapping[str, Series]], Section | None]
_TableSection = Callable[[TableResults, Mapping[str, Series]], Section | None]

# In the order of the page, by chapter. A new section of the report is one more name here.
_CHAPTERS: tuple[tuple[str, tuple[_StudySection, ...]], ...] = (
    (
        "Ranking",
        (
            leaderboard,
            rankings,
            pairwise_comparisons,
            loss_groups,
        ),
    ),
    ("Scores", (scores, verification, reproduction)),
    ("Cross-validation", (cross_validation,)),
    ("Protocols", (protocols,)),
    (
        "Hyperparameters",
        (tuning_gains, hyperparameters, _training, _agreement, _searches),
    ),
    ("Uncertainty of scores", (variance_components,)),
    ("Images", (embedding_maps, retrievals)),
    ("Cost and failures", (compute_cost,)),
    ("Fairness", (fairness,)),
    ("Provenance", (provenance,)),
    ("Methods", (methods,)),
)

# Sections that a study may lack -> their titles, and why where they do not say it themselves.
_WHY_NOT: Mapping[_StudySection, NotShown] = {
    section: NotShown(title=title, reason=reason)
    for section, title, reason in (
        (leaderboard, "Leaderboard", "There is no ranking."),
        (rankings, "Rankings by data set and score", "There is one data set and one score."),
        (pairwise_comparisons, "Pairwise comparisons", "There is no ranking."),
        (loss_groups, "Groups of losses", "It takes ranked losses of two groups."),
        (scores, "Scores", "No final trial has been tested yet."),
        (tuning_gains, "Tuning gains", "No final trial has been tested yet."),
        (verification, "Verification", "The study does not measure it (metrics: verification)."),
        (reproduction, "Reproduction", "The study file states no expected scores."),
        (cross_validation, "Cross-validation", "Finals were not trained on folds."),
        (protocols, "Validation protocols", "The study has one protocol."),
        (hyperparameters, "Hyperparameters", "Nothing was searched."),
        (_training, "Learning curves", "No winner has been retrained yet."),
        (_agreement, "Validation against test", "No finalist has been tested."),
        (_searches, "Search history", "No search trial has a score yet."),
        (variance_components, "Variance components", "It takes repeated finals or searches."),
        (embedding_maps, "Embedding maps", "No embeddings of finals were kept."),
        (retrievals, "Retrievals", "No retrievals of finals were kept."),
    )
}

# The same for the page of a published table.
_TABLE_CHAPTERS: tuple[tuple[str, tuple[_TableSection, ...]], ...] = (
    (
        "Ranking",
        (
            table_leaderboard,
            table_rankings,
            table_pairwise_comparisons,
            table_loss_groups,
        ),
    ),
    ("Scores", (table_scores,)),
    ("Methods", (table_methods,)),
)


def study_page(folder: Place, *, protocol: str | None = None) -> str:
    """One self-contained HTML page; the same store gives the same bytes.

    Args:
        folder: results folder of the study, finished or not.
        protocol: label of the protocol under which losses are compared; None for the study's first
            that does not leak.

    Raises:
        PodiumError: it is no results folder, a file of it is corrupt, competitors were scored on
            different data, or there is no such protocol.
    """
    report = study_report(read_results(folder, protocol))
    return render_page(within_limits(report))


def study_report(results: StudyResults) -> Page:
    """The report of a study as values.

    Args:
        results: results of the study, finished or not.
    """
    ranked = results.tournament.names if results.tournament else ()
    series = series_of(results.losses, ranked=ranked)
    blocks = counted(results.trials["block"].n_unique(), "block")
    num_protocols = len(results.protocols)
    under = f" under {num_protocols} protocols" if num_protocols > 1 else ""
    sections, not_shown = _made(results, series)
    return Page(
        title=results.name,
        subtitle=f"Tournament of {counted(len(results.losses), 'loss', 'losses')} over"
        f" {blocks}{under}",
        summary=study_summary(results, series),
        series=tuple(series.values()),
        sections=sections,
        not_shown=not_shown,
    )


def _made(
    results: StudyResults, series: Mapping[str, Series]
) -> tuple[tuple[Section, ...], tuple[NotShown, ...]]:
    """The sections that have something to show, and why the others have not."""
    sections: list[Section] = []
    not_shown: list[NotShown] = []
    with _one_thread():
        for chapter, of_chapter in _CHAPTERS:
            for make in of_chapter:
                section = make(results, series)
                why_not = _WHY_NOT.get(make)
                if section is None or not section.parts:
                    assert why_not is not None, "what may be absent says why"
                    not_shown.append(why_not)
                elif why_not and (reason := _only_sentence(section)):
                    not_shown.append(replace(why_not, reason=reason))
                else:
                    sections.append(replace(section, chapter=chapter))
    return tuple(sections), tuple(not_shown)


def _only_sentence(section: Section) -> str:
    """The text of a section of nothing but a paragraph; else empty."""
    match section.parts:
        case (Paragraph(text=text),):
            return text
    return ""


def table_report(
    results: TableResults,
    *,
    title: str,
    source: str,
) -> Page:
    """The page of a table of scores from a file, such as one typed from a paper, as values.

    Args:
        results: table of scores with its tournament.
        title: title of the page.
        source: where the table comes from and which rows were taken.
    """
    names = results.tournament.names
    series = series_of(names, ranked=names)
    with _one_thread():
        sections = [
            replace(section, chapter=chapter)
            for chapter, of_chapter in _TABLE_CHAPTERS
            for make in of_chapter
            if (section := make(results, series)) is not None
        ]
    return Page(
        title=title,
        subtitle=source,
        summary=table_summary(results, series),
        series=tuple(series.values()),
        sections=tuple(sections),
    )


@contextmanager
def _one_thread() -> Iterator[None]:
    """Linear algebra by a single thread.

    Matrices are small here, so threads of the linear algebra library cost more than they give,
    most on a busy machine; and with one of them last bits do not depend on how many cores there
    are. SciPy brings a library of its own, which is loaded first: limits hold for what is there.
    """
    import scipy.linalg  # noqa: F401

    with threadpool_limits(limits=1, user_api="blas"):
        yield
