"""Variance components of scores, and which further replication lowers the standard error most."""

from collections.abc import Mapping, Sequence

import polars as pl

from analysis.figures.estimate import Estimate
from analysis.figures.intervals import IntervalAxis, IntervalRow, IntervalWords, intervals_plot
from analysis.figures.series import Series
from analysis.page.html_page import (
    Cell,
    Column,
    Fold,
    Heading,
    Illustration,
    Paragraph,
    Part,
    Section,
    Table,
)
from analysis.study_results.component_scores import (
    final_component_scores,
    final_test_classes,
    search_component_scores,
    search_validation_classes,
    spent_hours,
)
from analysis.study_results.next_replication import (
    Replication,
    levels_of,
    replications,
    standard_error,
)
from analysis.study_results.study_results import PERCENT, StudyResults
from analysis.study_results.variance_components import (
    SEARCH_TERMS,
    ComponentEstimate,
    Components,
    final_components,
    search_components,
)
from analysis.wording import MISSING, counted, duration, number, range_of

_HOUR_SECONDS = 3600


def variance_components(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section; None if neither finals nor searches can separate two sources of variation."""
    parts = (*_finals(results), *_searches(results, series))
    if not parts:
        return None
    return Section(
        name="components",
        title="Variance components",
        parts=(
            Paragraph(
                text="Standard deviations of the components of a score, in points of"
                f" {results.metric}:"
                " how far it moves with another block, split, repeat or seed alone. Estimated by"
                " restricted maximum likelihood over all blocks at once; the table says which"
                " components this study's design cannot separate."
            ),
            *parts,
        ),
    )


def _finals(results: StudyResults) -> Sequence[Part]:
    scores = final_component_scores(results)
    if scores.is_empty():
        return ()
    found = final_components(scores, final_test_classes(results), unit=PERCENT)
    if found is None or found.of("residual").spread is None:
        return ()
    caption = (
        f"Standard deviations of test {results.metric} of tuned losses, points (n ="
        f" {counted(found.num_rows, 'final run')} in {counted(found.num_blocks, 'block')})"
    )
    return (
        Heading(text="Between finals, on test"),
        _illustration(found, "final-components", caption, "Test"),
        *_replications(results, found, scores),
    )


def _searches(results: StudyResults, series: Mapping[str, Series]) -> Sequence[Part]:
    scores = search_component_scores(results)
    if scores.is_empty():
        return ()
    found = search_components(scores, search_validation_classes(results), unit=PERCENT)
    if found is None or all(found.of(name).spread is None for name in ("config", "split")):
        return ()
    caption = (
        f"Standard deviations of validation {results.metric} of configs within a block and loss,"
        f" points (n = {counted(found.num_rows, 'trained network')} in"
        f" {counted(found.num_blocks, 'block')})"
    )
    return (
        Heading(text="Between configs, on validation"),
        _illustration(found, "search-components", caption, "Validation"),
        *_by_loss(scores, series),
    )


def _illustration(found: Components, name: str, caption: str, side: str) -> Illustration:
    rows = [
        IntervalRow(name=item.label, estimate=_estimate(item), note=item.note)
        for item in found.estimates
        if item.spread is not None
    ]
    return Illustration(
        name=name,
        plots=(
            intervals_plot(
                rows,
                IntervalAxis(label=f"{side}: standard deviation, points", reference=0),
                IntervalWords(value="standard deviation, points"),
                name=f"{name}-plot",
                title=caption,
                description="One bar for each source of variation, with its interval.",
                is_bars=True,
            ),
        ),
        caption=f"{caption}. Lines are 95 % intervals from the profile of the likelihood (of"
        " classes: Student's t of the logarithm); an arrow means that the interval extends"
        " further.",
        table=_table(found, f"{name}-table", caption),
    )


def _estimate(item: ComponentEstimate) -> Estimate:
    return Estimate(value=item.spread or 0.0, low=item.low, high=item.high)


def _table(found: Components, name: str, caption: str) -> Table:
    return Table(
        name=name,
        caption=f"{caption}; 95 % intervals",
        columns=(
            *Column.texts("Source"),
            *Column.numbers("Standard deviation", "95 % interval", "Levels"),
            *Column.texts("Note"),
        ),
        rows=tuple(
            (
                Cell(text=item.label, order=position),
                Cell.number(item.spread),
                Cell(text=_interval(item), order=item.high),
                Cell(
                    text=f"{item.num_levels:,}" if item.num_levels else MISSING,
                    order=item.num_levels or None,
                ),
                Cell(text=item.note),
            )
            for position, item in enumerate(found.estimates)
        ),
    )


def _interval(item: ComponentEstimate) -> str:
    if item.low is not None and item.high is None:
        return f"from {number(item.low)}"
    return range_of(item.low, item.high)


def _replications(
    results: StudyResults, found: Components, scores: pl.DataFrame
) -> Sequence[Part]:
    if scores["loss"].n_unique() < 2:
        return ()
    levels = levels_of(scores)
    now = standard_error(found, levels)
    options = replications(found, levels, spent_hours(results))
    table = _replication_table(options, now)
    return (
        Paragraph(text=_cheapest(options, now, found)),
        Fold(summary="What one more block, seed, split or repeat would give", parts=(table,)),
    )


def _cheapest(options: Sequence[Replication], now: float, found: Components) -> str:
    scope = "" if found.of("block_loss").spread is not None else " in these blocks"
    text = (
        f"The difference of two losses{scope} has a standard error of about {number(now)} points"
    )
    best = options[0]
    if best.gain is None or best.error is None or best.gain <= 0:
        return f"{text}; what lowers it cannot be estimated from a study with one of everything."
    return (
        f"{text}. Per hour one more {best.name} lowers it most: to {number(best.error)} for"
        f" {duration(best.hours * _HOUR_SECONDS)} of training, by the measured times."
    )


def _replication_table(options: Sequence[Replication], now: float) -> Table:
    return Table(
        name="replications",
        caption="One more of each, in every block and for all losses: the standard error of the"
        f" difference of two losses, {number(now)} points now, and what it takes",
        columns=(
            *Column.texts("One more"),
            *Column.numbers("Standard error then", "Training", "Points an hour"),
            *Column.texts("Note"),
        ),
        rows=tuple(
            (
                Cell.word(item.name),
                Cell.number(item.error),
                Cell(text=duration(item.hours * _HOUR_SECONDS), order=item.hours),
                Cell.number(item.gain, 3),
                Cell(text=item.reason),
            )
            for item in options
        ),
        note="Hours count all attempts of the compared protocol, times the GPUs of a trial;"
        " without a GPU they are those of one slot. A block takes searches and finals, a seed or"
        " a split finals alone. What all losses share cancels in a difference.",
        is_sortable=True,
    )


def _by_loss(scores: pl.DataFrame, series: Mapping[str, Series]) -> Sequence[Part]:
    """Components of each loss alone, without intervals; empty with one loss."""
    losses = scores["loss"].unique().sort().to_list()
    if len(losses) < 2:
        return ()
    found = {
        loss: search_components(
            scores.filter(pl.col("loss") == loss), unit=PERCENT, with_intervals=False
        )
        for loss in losses
    }
    rows = tuple(
        (
            Cell.named(loss, series),
            *(
                Cell.number(item.of(name).spread) if item else Cell(text=MISSING)
                for name in SEARCH_TERMS
            ),
        )
        for loss, item in found.items()
    )
    return (
        Table(
            name="search-components-losses",
            caption="The same for each loss alone, standard deviations in points"
            f" (n = {counted(scores.height, 'trained network')})",
            columns=(*Column.texts("Loss"), *Column.numbers(*SEARCH_TERMS.values())),
            rows=rows,
            note="A dash: one level only, or not separable from another source.",
            is_sortable=True,
        ),
    )
