"""Variance components of scores: what they vary with, and by how much."""

from collections.abc import Mapping, Sequence

from podium.analysis.figures.series import Series
from podium.analysis.page.html_page import Paragraph, Section
from podium.analysis.page.tables import Column, Table, table
from podium.analysis.study_results.component_scores import (
    final_component_scores,
    final_test_classes,
    search_component_scores,
    search_validation_classes,
)
from podium.analysis.study_results.study_results import PERCENT, StudyResults
from podium.analysis.study_results.variance_components import (
    Component,
    final_components,
    search_components,
)
from podium.analysis.wording import counted


def variance_components(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section; None if neither finals nor searches can separate two sources of variation."""
    del series  # losses are taken together
    tables = [*_finals(results), *_searches(results)]
    if not tables:
        return None
    text = (
        f"Standard deviations of the components of a score, in points of {results.metric}: how far"
        " it moves with another setting, split, repeat or seed alone. Estimated by moments over"
        " all settings at once; the notes say which components this study's design cannot"
        " separate."
    )
    return Section(
        name="components", title="Variance components", parts=(Paragraph(text=text), *tables)
    )


def _finals(results: StudyResults) -> Sequence[Table]:
    scores = final_component_scores(results)
    found = final_components(scores, final_test_classes(results)) if len(scores) else ()
    if not any(item.name == "residual" and item.spread is not None for item in found):
        return ()
    caption = (
        f"Standard deviations of test {results.metric} of tuned losses, points (n ="
        f" {counted(len(scores), 'final trial')} in"
        f" {counted(scores['block'].n_unique(), 'setting')})"
    )
    return (_table(found, "final-components-table", caption),)


def _searches(results: StudyResults) -> Sequence[Table]:
    scores = search_component_scores(results)
    found = search_components(scores, search_validation_classes(results)) if len(scores) else ()
    if not any(item.name in ("config", "split") and item.spread is not None for item in found):
        return ()
    caption = (
        f"Standard deviations of validation {results.metric} of configs within a setting and loss,"
        f" points (n = {counted(len(scores), 'trained network')} in"
        f" {counted(scores['block'].n_unique(), 'setting')})"
    )
    return (_table(found, "search-components-table", caption),)


def _table(found: Sequence[Component], name: str, caption: str) -> Table:
    return table(
        found,
        (
            Column.text("Source", "label", order=found.index),
            Column.number("Standard deviation", "spread", factor=PERCENT),
            Column.count("Levels", lambda item: item.num_levels or None),
            Column.text("Note", "note"),
        ),
        name=name,
        caption=caption,
    )
