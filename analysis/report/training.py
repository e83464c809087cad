"""How the tuned losses learn, whether validation picks well, and what the searches tried."""

from collections.abc import Mapping, Sequence

from analysis.figures.style import Series
from analysis.page.html_page import Heading, Paragraph, Part, Section
from analysis.report.learning_curves import learning_curves
from analysis.report.pareto_fronts import front_table
from analysis.report.search_history import search_history
from analysis.report.validation_and_test import validation
from analysis.study_results.study_results import StudyResults

__all__ = ["training"]


def training(results: StudyResults, series: Mapping[str, Series]) -> Section:
    """Learning curves, validation against test, search history, fronts."""
    curves = learning_curves(results, series)
    history = search_history(results, series)
    fronts = front_table(results, series)
    return Section(
        name="training",
        title="Training and search",
        label="Training and search",
        parts=(
            Heading(text="Learning curves"),
            *_or_why((curves,) if curves else (), _without_validation(results)),
            Heading(text="Validation against test"),
            *_or_why(
                validation(results, series),
                "No finalist has both a validation score and a test score.",
            ),
            Heading(text="Search history"),
            *_or_why((history,) if history else (), "No search trial has a score yet."),
            *((Heading(text="Score against training time"), fronts) if fronts else ()),
        ),
    )


def _without_validation(results: StudyResults) -> str:
    """Why no curve can be drawn: nothing was retrained, or only on all training classes."""
    if results.selection.is_empty():
        return "No winner has been retrained yet."
    return "Winners were retrained without validation classes, so they have no validation curve."


def _or_why(parts: Sequence[Part], why_not: str) -> Sequence[Part]:
    return parts or (Paragraph(text=why_not),)
