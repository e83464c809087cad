"""What each search for two objectives found: its front of score and time, as a table."""

from collections.abc import Mapping

from analysis.figures.style import Series
from analysis.hyperparameters.pareto_fronts import wants_seconds, with_fronts
from analysis.page.html_page import Cell, Column, Table
from analysis.study_results.study_results import PERCENT, StudyResults
from analysis.wording import number

__all__ = ["front_table"]


def front_table(results: StudyResults, series: Mapping[str, Series]) -> Table | None:
    """The table; None if no search was for less time, or none has a complete trial."""
    if not wants_seconds(results.study):
        return None
    trials = with_fronts(results.search_trials).filter("on_front")
    if trials.is_empty():
        return None
    names = ("Trial", "Validation, %", "Training, s")
    return Table(
        name="search-fronts",
        caption="The front of each search: complete trials that no other one of their search beats"
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
