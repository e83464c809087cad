"""Search budget: the expected best of n random trials, incumbents of other samplers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from analysis.figures.axis import Axis
from analysis.figures.lines import Line, lines_plot, thinned
from analysis.figures.plot import Plot
from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Illustration, Paragraph, Section, Table
from analysis.report.shown_blocks import ranked_losses
from analysis.selection.expected_best import expected_best
from analysis.selection.incumbents import budget_means, incumbent_curves, mean_halves
from analysis.study_results.study_results import PERCENT, StudyResults
from analysis.wording import counted, duration, number, signed, time_unit
from podium.errors import PodiumError

_HOUR_SECONDS = 3600
_MOST_POINTS = 100  # of a line


@dataclass(frozen=True, slots=True, kw_only=True)
class _Curves:
    """Curves to be drawn, and the words about them.

    Attributes:
        means: means by loss and number of trials, from ``budget_means``, in points.
        main: column of ``means`` drawn as a line.
        further: column drawn dotted; empty without one.
        lead: sentences above the figure.
        caption: caption of the figure.
        main_label: head of the main column.
    """

    means: pl.DataFrame
    main: str
    further: str
    lead: str
    caption: str
    main_label: str


def search_budget(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section; None before two trials of every search have ended, or if none has a score."""
    found = _curves(results)
    if found is None or found.means.is_empty() or found.means["num_trials"].n_unique() < 2:
        return None
    if found.means[found.main].null_count() == found.means.height:
        return None
    return Section(
        name="budget",
        title="Search budget",
        parts=(Paragraph(text=found.lead), _figure(results, found, series)),
    )


def _curves(results: StudyResults) -> _Curves | None:
    trials = results.search_trials
    sampler = str(results.study["search"]["sampler"])
    drawn = trials.filter(~pl.col("is_default")).join(
        results.drawn, on=["search", "trial_id"], how="semi"
    )
    try:
        curves = expected_best(results.runs.searches_of(drawn), sampler=sampler)
    except PodiumError:
        return _incumbents(results, trials, sampler)
    if curves.is_empty():
        return None
    half = (pl.col("high") - pl.col("low")) / 2
    curves = curves.with_columns(half.alias("half"))
    are_shared = bool(results.study["search"]["shared_configs"])
    means = _in_points(
        budget_means(curves, ("unbiased", "biased", "test")), curves, are_shared=are_shared
    )
    return _Curves(
        means=means,
        main="biased",
        further="unbiased",
        lead="Trials of random search are independent, so the best of n of them has an expected"
        " value: how far the validation score of a search of n trials is above a single trial, on"
        " average. Nothing is extrapolated beyond the trials there are.",
        caption="Expected best validation score of n random trials, mean over blocks and repeats,"
        " in points above the mean trial of its block. Solid: draws with replacement, biased low"
        " but misleading least (Dodge et al. 2021), so it is the main line; dotted: without"
        " replacement,"
        " unbiased. Band: 95 % jackknife over trials of the unbiased one, up to a quarter of the"
        " trials. The published default is no random draw and is left out.",
        main_label="Best of n",
    )


def _incumbents(results: StudyResults, trials: pl.DataFrame, sampler: str) -> _Curves:
    curves = incumbent_curves(results.runs.searches_of(trials))
    means = _in_points(budget_means(curves, ("val", "test")), curves)
    is_random = sampler == "random"
    why = (
        "Trials were stopped early, so they are no independent draws"
        if is_random
        else f"The sampler ({sampler}) chooses trials by earlier ones or in a fixed order, so they"
        " are no independent draws"
    )
    return _Curves(
        means=means,
        main="val",
        further="",
        lead=f"{why}, and the best of n has no expected value.",
        caption="Best validation score of complete trials so far, mean over blocks and repeats, in"
        " points above the first trial of its block. Band: one standard deviation over searches to"
        " either side, where there are several.",
        main_label="Best so far",
    )


def _in_points(
    means: pl.DataFrame, curves: pl.DataFrame, *, are_shared: bool = False
) -> pl.DataFrame:
    """Means in points with the ends of each loss's band; ``are_shared``: repeats share configs."""
    if means.is_empty():
        return means
    if "half" in curves.columns:
        means = means.join(mean_halves(curves, are_shared=are_shared), on=["loss", "num_trials"])
        middle = pl.col("unbiased")
    else:
        means = means.with_columns(pl.col("val_std").alias("half"))
        middle = pl.col("val")
    means = means.sort("loss", "num_trials")
    scores = [name for name in ("biased", "unbiased", "val", "test") if name in means.columns]
    return means.with_columns(
        (middle - pl.col("half")).alias("low"), (middle + pl.col("half")).alias("high")
    ).with_columns(pl.col(*scores, "low", "high") * PERCENT)


def _figure(results: StudyResults, found: _Curves, series: Mapping[str, Series]) -> Illustration:
    means = found.means
    has_test = "test" in means.columns and not means["test"].has_nulls()
    searches = counted(max(means["num_searches"]), "search", "searches")
    tested = (
        " Test of the incumbent: what the quarantine recorded of the same trial, never seen by the"
        " search."
        if has_test
        else ""
    )
    return Illustration(
        name="budget-figure",
        plots=tuple(_plots(results, found, has_test=has_test)),
        selector="Curve",
        caption=f"{found.caption}{tested} n = {searches} of each loss.",
        table=_table(found, series, has_test=has_test),
    )


def _plots(results: StudyResults, found: _Curves, *, has_test: bool) -> Iterator[Plot]:
    """Validation by trials, and by training time and test by trials where these are known."""
    means = found.means
    losses = ranked_losses(results, set(means["loss"]))
    further = [found.further] if found.further else []
    by_trials = [
        _line(means.filter(loss=loss), "num_trials", column, is_main=column == found.main)
        for loss in losses
        for column in (found.main, *further)
    ]
    trials = Axis(label="Trials", digits=0)
    validation = f"Validation {results.metric}"
    yield _plot(by_trials, trials, heading=f"{validation} by trials", name="budget-trials")
    if not means["gpu_hours"].has_nulls():
        unit, length = time_unit(max(means["gpu_hours"]) * _HOUR_SECONDS)
        timed = means.with_columns(pl.col("gpu_hours") * (_HOUR_SECONDS / length))
        by_time = [
            _line(timed.filter(loss=loss), "gpu_hours", found.main, is_main=True)
            for loss in losses
        ]
        yield _plot(
            by_time,
            Axis(label=f"Training, {unit}"),
            heading=f"{validation} by training time",
            name="budget-time",
        )
    if has_test:
        tests = [
            _line(means.filter(loss=loss).drop("low", "high"), "num_trials", "test", is_main=True)
            for loss in losses
        ]
        yield _plot(tests, trials, heading="Test of the incumbent by trials", name="budget-test")


def _plot(lines: list[Line], x: Axis, *, heading: str, name: str) -> Plot:
    return lines_plot(
        lines,
        x=x,
        y=Axis(label="Points"),
        name=name,
        label=heading,
        title=heading,
        description=f"{heading}, one line for each loss, centred in each block.",
        band="band",
    )


def _line(rows: pl.DataFrame, spent: str, column: str, *, is_main: bool) -> Line:
    shown = rows[thinned(rows.height, _MOST_POINTS)]
    has_band = is_main and "low" in shown.columns
    return Line(
        name=shown["loss"][0],
        xs=tuple(shown[spent]),
        ys=tuple(shown[column]),
        lows=tuple(shown["low"]) if has_band else (),
        highs=tuple(shown["high"]) if has_band else (),
        note="" if is_main else column,
        is_dotted=not is_main,
    )


def _table(found: _Curves, series: Mapping[str, Series], *, has_test: bool) -> Table:
    last = max(found.means["num_trials"])
    shown = [n for n in range(1, last + 1) if n == last or n & (n - 1) == 0]
    rows = found.means.filter(pl.col("num_trials").is_in(shown)).to_dicts()
    heads = [found.main_label, *(["Unbiased"] if found.further else []), "Band"]
    heads += ["Test", "Training"] if has_test else ["Training"]
    return Table(
        name="budget-table",
        caption="What n trials reach, in points above the first trial (of random search: a mean"
        " trial) of the block; mean over blocks and repeats",
        columns=(*Column.texts("Loss"), *Column.numbers("Trials", *heads, "Searches")),
        rows=tuple(_row(row, found, series, has_test=has_test) for row in rows),
        is_sortable=True,
    )


def _row(
    row: Mapping[str, Any], found: _Curves, series: Mapping[str, Series], *, has_test: bool
) -> tuple[Cell, ...]:
    names = [found.main, *([found.further] if found.further else [])]
    low, high, hours = row["low"], row["high"], row["gpu_hours"]
    band = "" if low is None or high is None else f"{signed(low)} to {signed(high)}"
    return (
        Cell.named(row["loss"], series),
        Cell(text=str(row["num_trials"]), order=float(row["num_trials"])),
        *(Cell.signed(row[name]) for name in names),
        Cell(text=band or number(None), order=low),
        *((Cell.signed(row["test"]),) if has_test else ()),
        Cell(text=duration(None if hours is None else hours * _HOUR_SECONDS), order=hours),
        Cell(text=str(row["num_searches"]), order=float(row["num_searches"])),
    )
