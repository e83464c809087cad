"""Search history: objective by trial, one panel a block, and Pareto fronts."""

from collections.abc import Mapping

import polars as pl

from analysis.figures.search_history import SearchHistory, draw_search_history
from analysis.figures.style import Series
from analysis.hyperparameters.pareto_fronts import has_time_objective, with_pareto_fronts
from analysis.page.html_page import Cell, Column, Illustration, Table
from analysis.report.learning_curves import padded_range
from analysis.report.shown_blocks import leading_losses, losses_note, panels_note, spread_blocks
from analysis.study_results.study_results import PERCENT, StudyResults
from analysis.wording import number

__all__ = ["pareto_front_table", "search_history"]

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
    blocks = set(trials["block"])
    largest = int(str(trials["block"].value_counts()["count"].max()))
    most = max(1, min(_MOST_PANELS, _MOST_MARKS // largest))
    shown = set(spread_blocks(results, blocks, most))
    losses = set(trials["loss"])
    leading = leading_losses(results, losses)
    drawn = trials.filter(
        pl.col("block").is_in(sorted(shown)), pl.col("loss").is_in(sorted(leading))
    )
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
        f"{panels_note(len(shown), len(blocks))}{losses_note(len(leading), len(losses))}",
        legend=tuple(series[loss] for loss in sorted(leading)),
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
                Cell(text=part["block"][0], order=part["block"][0]),
                Cell(text=loss, series=series[loss], order=loss),
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
        columns=(
            Column(label="Block", is_number=False),
            Column(label="Loss", is_number=False),
            *(Column(label=label) for label in (*repeat, *labels)),
        ),
        rows=tuple(rows),
        is_sortable=True,
    )


def _count(part: pl.DataFrame, state: str) -> Cell:
    count = part.filter(pl.col("state") == state).height
    return Cell(text=str(count), order=count)


def _value(row: pl.DataFrame, column: str, digits: int) -> Cell:
    value = None if row.is_empty() else row[column][0]
    return Cell(text=number(value, digits), order=value)


def pareto_front_table(results: StudyResults, series: Mapping[str, Series]) -> Table | None:
    """Pareto fronts of score and training time; None without complete trials or that objective."""
    if not has_time_objective(results.study):
        return None
    trials = with_pareto_fronts(results.search_trials).filter("on_front")
    if trials.is_empty():
        return None
    names = ("Trial", "Validation, %", "Training, s")
    return Table(
        name="search-fronts",
        caption="The Pareto front of each search: complete trials that no other one of their"
        " search beats"
        " in score without taking longer. The winner, which the final stage retrains, is the one"
        " with the best score.",
        columns=(
            Column(label="Search", is_number=False),
            Column(label="Loss", is_number=False),
            *(Column(label=name) for name in names),
            Column(label="Config", is_number=False),
        ),
        rows=tuple(
            _row(trial, series)
            for trial in trials.sort("search", "training_seconds", "index").iter_rows(named=True)
        ),
        is_sortable=True,
    )


def _row(trial: Mapping[str, object], series: Mapping[str, Series]) -> tuple[Cell, ...]:
    loss, search = str(trial["loss"]), str(trial["search"])
    objective, seconds, index = (
        float(str(trial[name])) for name in ("objective", "training_seconds", "index")
    )
    values = {
        name.removeprefix("hp."): value
        for name, value in trial.items()
        if name.startswith("hp.") and value is not None
    }
    return (
        Cell(text=search, order=search),
        Cell(text=loss, series=series[loss], order=loss),
        Cell(text=number(index, 0), order=index),
        Cell(text=number(objective * PERCENT, 2), order=objective * PERCENT),
        Cell(text=number(seconds, 1), order=seconds),
        Cell(text=", ".join(f"{name} {_shown(value)}" for name, value in values.items())),
    )


def _shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
