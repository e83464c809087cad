"""Search history: objective by trial, one panel a block, and Pareto fronts."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from analysis.figures.search_history import SearchHistory, draw_search_history
from analysis.figures.series import Series
from analysis.hyperparameters.pareto_fronts import has_time_objective, with_pareto_fronts
from analysis.page.html_page import Cell, Column, Illustration, Table
from analysis.report.learning_curves import padded_range
from analysis.report.shown_blocks import drawn_rows
from analysis.study_results.study_results import PERCENT, StudyResults

_MOST_PANELS = 6
_MOST_MARKS = 2_000  # of all panels together


def search_history(results: StudyResults, series: Mapping[str, Series]) -> Illustration | None:
    """The figure; None if no search trial has an objective."""
    trials = results.search_trials.with_columns(
        (pl.col("objective").fill_nan(None) * PERCENT).alias("objective")
    ).sort("block", "loss", "search", "index")
    objectives = trials["objective"].drop_nulls().to_list()
    if not objectives:
        return None
    y_range = padded_range(objectives)
    largest = max(trials["block"].value_counts()["count"])
    most = max(1, min(_MOST_PANELS, _MOST_MARKS // largest))
    drawn, losses, note = drawn_rows(results, trials, most_blocks=most)
    plots = [
        draw_search_history(
            [_history(part, series) for part in panel.partition_by("search", maintain_order=True)],
            block=panel["block"][0],
            y_range=y_range,
            metric=results.metric,
            name=f"history-{position}",
        )
        for position, panel in enumerate(drawn.partition_by("block", maintain_order=True))
    ]
    return Illustration(
        name="search-history",
        plots=tuple(plots),
        caption="Every trial of each search in the order of suggestion. Filled: complete; hollow:"
        " pruned, at its value when stopped; × on the lower edge: failed. The line is the"
        " incumbent, the best complete trial so far. All panels have the same scale."
        f"{note}",
        legend=tuple(series[loss] for loss in losses),
        table=_table(trials, series),
    )


def _history(part: pl.DataFrame, series: Mapping[str, Series]) -> SearchHistory:
    return SearchHistory(
        series=series[part["loss"][0]],
        indices=tuple(part["index"]),
        objectives=tuple(part["objective"].fill_null(float("nan"))),
        states=tuple(part["state"]),
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
