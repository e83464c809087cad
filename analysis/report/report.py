"""The report of a study, and the page of a published table: which sections, in which order.

Each section is a function of a module of this room.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from threadpoolctl import threadpool_limits

from podium.analysis.figures.series import Series, series_of
from podium.analysis.page.html_page import Page, Section
from podium.analysis.report.backbone_or_loss import backbone_or_loss
from podium.analysis.report.compute_cost import compute_cost
from podium.analysis.report.configs import configs
from podium.analysis.report.cross_validation import cross_validation
from podium.analysis.report.dimensions import dimensions
from podium.analysis.report.fairness import fairness
from podium.analysis.report.hyperparameters import hyperparameters
from podium.analysis.report.images import embedding_maps, retrievals
from podium.analysis.report.leaderboard import leaderboard, loss_groups
from podium.analysis.report.methods import methods, table_methods
from podium.analysis.report.pairwise_comparisons import pairwise_comparisons
from podium.analysis.report.protocols import protocols
from podium.analysis.report.provenance import provenance
from podium.analysis.report.reproduction import reproduction
from podium.analysis.report.scores import scores, table_scores
from podium.analysis.report.summary import study_summary, table_summary
from podium.analysis.report.training import learning_curves, search_history
from podium.analysis.report.tuning_gains import tuning_gains
from podium.analysis.report.validation_and_test import validation_and_test
from podium.analysis.report.variance_components import variance_components
from podium.analysis.study_results.study_results import StudyResults
from podium.analysis.tournament.table_tournament import TableResults
from podium.analysis.wording import counted

_R = TypeVar("_R")
_Section = tuple[Callable[[_R, Mapping[str, Series]], Section | None], str, str]
_Chapters = Mapping[str, Sequence[_Section[_R]]]

# Chapter -> its sections in the order of the page, each with the title and the reason that the
# page gives where there is none. A new section of the report is one more line here.
_CHAPTERS: _Chapters[StudyResults] = {
    "Ranking": (
        (leaderboard, "Leaderboard", "There is no ranking."),
        (pairwise_comparisons, "Pairwise comparisons", "There is no ranking."),
        (loss_groups, "Groups of losses", "It takes ranked losses of two groups."),
    ),
    "Scores": (
        (scores, "Scores", "No final trial has been tested yet."),
        (
            dimensions,
            "Prefixes of the embedding",
            "It takes a loss over prefixes, matryoshka:LOSS.",
        ),
        (backbone_or_loss, "Backbone or loss", "It takes two backbones and two losses."),
        (reproduction, "Reproduction", "The study file states no expected scores."),
    ),
    "Cross-validation": (
        (cross_validation, "Cross-validation", "Finals were not trained on folds."),
    ),
    "Protocols": ((protocols, "Validation protocols", "The study has one protocol."),),
    "Hyperparameters": (
        (tuning_gains, "Tuning gains", "No final trial has been tested yet."),
        (hyperparameters, "Hyperparameters", "Nothing was searched."),
        (configs, "Configs", "Each search drew configs of its own."),
        (learning_curves, "Learning curves", "No winner was retrained with validation classes."),
        (validation_and_test, "Validation against test", "No finalist has been tested."),
        (search_history, "Search history", "No search trial has a score yet."),
    ),
    "Uncertainty of scores": (
        (variance_components, "Variance components", "It takes repeated finals or searches."),
    ),
    "Images": (
        (embedding_maps, "Embedding maps", "No embeddings of finals were kept."),
        (retrievals, "Retrievals", "No retrievals of finals were kept."),
    ),
    "Cost and failures": ((compute_cost, "Cost and failures", ""),),
    "Fairness": ((fairness, "Fairness", ""),),
    "Provenance": ((provenance, "Provenance", ""),),
    "Methods": ((methods, "Methods", ""),),
}

# The same for the page of a published table, which does not say what it has not.
_TABLE_CHAPTERS: _Chapters[TableResults] = {
    "Ranking": (
        (leaderboard, "", ""),
        (pairwise_comparisons, "", ""),
        (loss_groups, "", ""),
    ),
    "Scores": ((table_scores, "", ""),),
    "Methods": ((table_methods, "", ""),),
}


def study_report(results: StudyResults) -> Page:
    """The report of a study as values.

    Args:
        results: results of the study, finished or not.
    """
    ranked = results.tournament.names if results.tournament else ()
    series = series_of(results.losses, ranked=ranked)
    blocks = counted(results.trials.drop_nulls("embedding_dim")["block"].n_unique(), "setting")
    num_protocols = len(results.protocols)
    under = f" under {num_protocols} protocols" if num_protocols > 1 else ""
    sections, not_shown = _made(_CHAPTERS, results, series)
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
    chapters: _Chapters[_R], results: _R, series: Mapping[str, Series]
) -> tuple[tuple[Section, ...], tuple[tuple[str, str], ...]]:
    """The sections that have something to show, and why the others have not."""
    sections: list[Section] = []
    not_shown: list[tuple[str, str]] = []
    with _one_thread():
        for chapter, of_chapter in chapters.items():
            for make, title, reason in of_chapter:
                section = make(results, series)
                if section and section.parts:
                    sections.append(replace(section, chapter=chapter))
                else:
                    not_shown.append((title, reason))
    return tuple(sections), tuple(not_shown)


def table_report(results: TableResults, *, title: str, source: str) -> Page:
    """The page of a table of scores from a file, such as one typed from a paper, as values.

    Args:
        results: table of scores with its tournament.
        title: title of the page.
        source: where the table comes from and which rows were taken.
    """
    names = results.tournament.names
    series = series_of(names, ranked=names)
    sections, _ = _made(_TABLE_CHAPTERS, results, series)
    return Page(
        title=title,
        subtitle=source,
        summary=table_summary(results, series),
        series=tuple(series.values()),
        sections=sections,
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
