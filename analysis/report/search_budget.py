"""Search budget: the expected best of n random trials, incumbents of other samplers."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from analysis.figures.budget_lines import BudgetLine, draw_budget_lines
from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Illustration, Paragraph, Section, Table
from analysis.report.learning_curves import padded_range
from analysis.selection.expected_best import expected_best
from analysis.selection.incumbents import budget_means, incumbent_curves, mean_halves
from analysis.study_results.study_results import PERCENT, StudyResults
from analysis.wording import counted, duration, number, signed
from podium.errors import PodiumError

_GROUP = 5  # losses in one panel
_HOUR_SECONDS = 3600


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
        lead=f"{why} and the best of n has no expected value to estimate from one search. Shown is"
        " what happened: the best complete trial so far, over blocks and repeats.",
        caption="Best validation score so far, mean over blocks and repeats, in points above the"
        " first trial of its block. Band: one standard deviation over searches to either side,"
        " where there are several.",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Panel:
    """One panel of each group of losses.

    Attributes:
        spent: column of ``means`` on the x axis.
        unit: factor from that column to the unit of the axis.
        x_label: label of the x axis.
        heading: what the scores are.
        main: column drawn as a line.
        further: column drawn dotted; empty without one.
        y_range: lower and upper end of the y axis.
    """

    spent: str
    unit: float
    x_label: str
    heading: str
    main: str
    further: str
    y_range: tuple[float, float]


def _figure(results: StudyResults, found: _Curves, series: Mapping[str, Series]) -> Illustration:
    means = found.means
    has_test = "test" in means.columns and not means["test"].has_nulls()
    losses = means["loss"].unique().sort().to_list()
    groups = [losses[start : start + _GROUP] for start in range(0, len(losses), _GROUP)]
    plots = [
        draw_budget_lines(
            [_line(means.filter(pl.col("loss") == loss), series[loss], panel) for loss in group],
            heading=panel.heading,
            x_label=panel.x_label,
            y_range=panel.y_range,
            is_counted=panel.spent == "num_trials",
            name=f"budget-{position}-{panel.spent.replace('_', '-')}-{panel.main}",
        )
        for position, group in enumerate(groups)
        for panel in _panels(results, found, has_test=has_test)
    ]
    searches = counted(max(means["num_searches"]), "search", "searches")
    tested = (
        " Test of the incumbent: what the quarantine recorded of the same trial, never seen by the"
        " search."
        if has_test
        else ""
    )
    return Illustration(
        name="budget-figure",
        plots=tuple(plots),
        caption=f"{found.caption}{tested} n = {searches} of each loss.",
        legend=tuple(series[loss] for loss in losses),
        table=_table(found, series, has_test=has_test),
    )


def _panels(results: StudyResults, found: _Curves, *, has_test: bool) -> Iterator[_Panel]:
    """Validation by trials, and by training time and test by trials where these are known."""
    means = found.means
    validation = _Panel(
        spent="num_trials",
        unit=1.0,
        x_label="Trials",
        heading=f"Validation {results.metric}",
        main=found.main,
        further=found.further,
        y_range=_range(means, [found.main, *filter(None, [found.further]), "low", "high"]),
    )
    yield validation
    if not means["gpu_hours"].has_nulls():
        unit, name = _unit(means)
        yield replace(
            validation, spent="gpu_hours", unit=unit, x_label=f"Training, {name}", further=""
        )
    if has_test:
        yield replace(
            validation,
            heading="Test of the incumbent",
            main="test",
            further="",
            y_range=_range(means, ["test"]),
        )


def _range(means: pl.DataFrame, names: Sequence[str]) -> tuple[float, float]:
    return padded_range([value for name in names for value in means[name].drop_nulls()])


def _unit(means: pl.DataFrame) -> tuple[float, str]:
    """Hours, or minutes or seconds where all are short."""
    most = max(means["gpu_hours"])
    if most >= 1:
        return 1.0, "hours"
    return (60.0, "minutes") if most * 60 >= 1 else (3600.0, "seconds")


def _line(rows: pl.DataFrame, series: Series, panel: _Panel) -> BudgetLine:
    has_band = panel.main != "test"
    return BudgetLine(
        series=series,
        spent=tuple(panel.unit * rows[panel.spent]),
        means=tuple(rows[panel.main].fill_null(math.nan)),
        further=tuple(rows[panel.further].fill_null(math.nan)) if panel.further else (),
        lows=tuple(rows["low"]) if has_band else (),
        highs=tuple(rows["high"]) if has_band else (),
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
