"""Search history: objective by trial, a block at a time, and Pareto fronts."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from analysis.figures.axis import Axis
from analysis.figures.lines import Dots, Line, lines_plot, thinned
from analysis.figures.series import Series
from analysis.hyperparameters.pareto_fronts import has_time_objective, with_pareto_fronts
from analysis.page.html_page import Cell, Column, Illustration, Table
from analysis.report.shown_blocks import points_of_line, ranked_losses
from analysis.study_results.study_results import PERCENT, StudyResults


def search_history(results: StudyResults, series: Mapping[str, Series]) -> Illustration | None:
    """The figure; None if no search trial has an objective."""
    trials = results.search_trials.with_columns(
        (pl.col("objective").fill_nan(None) * PERCENT).alias("objective")
    ).sort("block", "loss", "search", "index")
    if not trials["objective"].count():
        return None
    most = points_of_line(trials["search"].n_unique())
    panels = trials.partition_by("block", maintain_order=True)
    plots = [
        lines_plot(
            _lines(results, panel, series, most),
            x=Axis(label="Trial (0 is the published default)", digits=0),
            y=Axis(label=f"Validation {results.metric}, %"),
            are_steps=True,
            name=f"history-{position}",
            label=panel["block"][0],
            title=f"Search history of {panel['block'][0]}",
            description=f"Validation {results.metric} of trials in the order of suggestion, with"
            " the incumbent, the best complete trial so far, as a line for each loss.",
        )
        for position, panel in enumerate(panels)
    ]
    return Illustration(
        name="search-history",
        plots=tuple(plots),
        caption="Lines: the incumbent, the best complete trial so far. Dots: trials in the order"
        " of suggestion, complete (filled), pruned (hollow, at the value when stopped) or failed"
        f" (× on the lower edge).{_sampled(trials, series, most)}",
        selector="Block" if len(panels) > 1 else "",
        table=_table(trials, series),
    )


def _sampled(trials: pl.DataFrame, series: Mapping[str, Series], most: int) -> str:
    """Which trials are no dots; empty if all are."""
    said = ""
    if any(series[loss].position is None for loss in trials["loss"].unique()):
        said += " Losses in grey have no dots."
    if max(trials["search"].value_counts()["count"]) > most:
        said += f" Of each search {most} trials are dots, spread evenly."
    return said


def _lines(
    results: StudyResults, panel: pl.DataFrame, series: Mapping[str, Series], most: int
) -> list[Line]:
    """A line for each search, best loss first."""
    has_repeats = panel["repeat"].n_unique() > 1
    return [
        _line(
            part,
            note=f"repeat {part['repeat'][0]}" if has_repeats else "",
            most=most if series[loss].position is not None else 0,
        )
        for loss in ranked_losses(results, set(panel["loss"]))
        for part in panel.filter(loss=loss).partition_by("search", maintain_order=True)
    ]


def _line(part: pl.DataFrame, *, note: str, most: int) -> Line:
    """The incumbent of one search where it rises, and at most so many of its trials.

    Only complete trials can be the incumbent: pruned ones were seen for fewer epochs.
    """
    complete = part.filter(pl.col("state") == "COMPLETE").drop_nulls("objective")
    best = complete.select("index", pl.col("objective").cum_max())
    rises = best.filter((pl.col("objective").diff() > 0).fill_null(value=True))
    corners = rises.rows()
    if corners and corners[-1][0] < part["index"][-1]:
        corners.append((part["index"][-1], corners[-1][1]))
    dots = part[thinned(part.height, most)] if most else part.clear()
    return Line(
        name=part["loss"][0],
        xs=tuple(index for index, _ in corners),
        ys=tuple(value for _, value in corners),
        note=note,
        dots=Dots(
            xs=tuple(dots["index"]),
            ys=tuple(dots["objective"]),
            states=tuple(state.lower() for state in dots["state"]),
        ),
    )


def _table(trials: pl.DataFrame, series: Mapping[str, Series]) -> Table:
    rows = []
    has_repeats = trials["repeat"].n_unique() > 1
    for part in trials.partition_by("search", maintain_order=True):
        complete = part.filter(pl.col("state") == "COMPLETE").drop_nulls("objective")
        # Ties go to the earlier trial, as in the search itself.
        best = complete.sort("objective", descending=True, maintain_order=True).head(1)
        default = part.filter("is_default").drop_nulls("objective").head(1)
        loss = part["loss"][0]
        rows.append(
            (
                Cell.word(part["block"][0]),
                Cell.named(loss, series),
                *((_value(part, "repeat", 0),) if has_repeats else ()),
                *(_count(part, state) for state in ("COMPLETE", "PRUNED", "FAILED")),
                _value(default, "objective", 2),
                _value(best, "objective", 2),
                _value(best, "index", 0),
            )
        )
    repeat = ("Repeat",) if has_repeats else ()
    labels = ("Complete", "Pruned", "Failed", "Default, val %", "Best, val %", "Best trial")
    return Table(
        name="search-history-table",
        caption="The searches",
        columns=(*Column.texts("Block", "Loss"), *Column.numbers(*repeat, *labels)),
        rows=tuple(rows),
        is_sortable=True,
    )


def _count(part: pl.DataFrame, state: str) -> Cell:
    return Cell.count(part.filter(pl.col("state") == state).height)


def _value(row: pl.DataFrame, column: str, digits: int) -> Cell:
    return Cell.number(None if row.is_empty() else row[column][0], digits)


def pareto_front_table(results: StudyResults, series: Mapping[str, Series]) -> Table | None:
    """Pareto fronts of score and training time; None without complete trials or that objective."""
    if not has_time_objective(results.study):
        return None
    trials = with_pareto_fronts(results.search_trials).filter("on_front")
    if trials.is_empty():
        return None
    return Table(
        name="search-fronts",
        caption="The Pareto front of each search: complete trials that no other one of their"
        " search beats"
        " in score without taking longer. The winner, which the final stage retrains, is the one"
        " with the best score.",
        columns=(
            *Column.texts("Search", "Loss"),
            *Column.numbers("Trial", "Validation, %", "Training, s"),
            *Column.texts("Config"),
        ),
        rows=tuple(
            _row(trial, series)
            for trial in trials.sort("search", "training_seconds", "index").iter_rows(named=True)
        ),
        is_sortable=True,
    )


def _row(trial: Mapping[str, Any], series: Mapping[str, Series]) -> tuple[Cell, ...]:
    values = {
        name.removeprefix("hp."): value
        for name, value in trial.items()
        if name.startswith("hp.") and value is not None
    }
    return (
        Cell.word(trial["search"]),
        Cell.named(trial["loss"], series),
        Cell.number(float(trial["index"]), 0),
        Cell.share(trial["objective"]),
        Cell.number(trial["training_seconds"], 1),
        Cell(text=", ".join(f"{name} {_shown(value)}" for name, value in values.items())),
    )


def _shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
