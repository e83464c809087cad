"""Mean test score of each loss against what its search, and one training, cost."""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from analysis.figures.axis import Axis
from analysis.figures.plot import Plot
from analysis.figures.scatter import Point, front_of, scatter_plot
from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Illustration, Table
from analysis.scores.gpu_shares import gpus_per_trial, has_gpus
from analysis.study_results.study_results import StudyResults
from analysis.wording import duration, time_unit

_READ = ("block", "loss", "search", "stage", "state", "is_winner", "same_as", "seconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cost:
    """One loss.

    Attributes:
        loss: its name.
        score: mean test score, in percent.
        search: mean seconds of one of its searches.
        training: mean seconds of one training of its winner.
    """

    loss: str
    score: float
    search: float
    training: float


def score_against_cost(results: StudyResults, series: Mapping[str, Series]) -> Illustration | None:
    """The figure; None without a ranking, or where no time was recorded.

    Costs are means over the blocks in which every ranked loss was searched and retrained.
    """
    costs = _costs(results)
    if not costs:
        return None
    of = "GPU-" if has_gpus(results.study) else ""
    where = "" if has_gpus(results.study) else " of one slot"
    label = f"Mean test {results.ranked_by.label}, %"
    searches = {cost.loss: cost.search for cost in costs}
    trainings = {cost.loss: cost.training for cost in costs}
    plots = tuple(
        _plot(costs, seconds, of, f"{where}, {what}", label, name)
        for seconds, what, name in (
            (searches, "one search", "cost-of-search"),
            (trainings, "one training", "cost-of-training"),
        )
    )
    return Illustration(
        name="score-against-cost",
        plots=plots,
        caption="Mean test score of the tuned losses against the mean cost of one of their"
        " searches and of one training of their winner. The staircase joins the losses that"
        " none beats in both (Pareto front).",
        table=_table(costs, [_front(costs, searches), _front(costs, trainings)], series, label),
    )


def _costs(results: StudyResults) -> list[_Cost]:
    """Best loss first; empty if anything is unknown."""
    if results.tournament is None:
        return []
    share = gpus_per_trial(results.study) if has_gpus(results.study) else 1.0
    trials = (
        results.compared_trials.select(*_READ)
        .filter(pl.col("loss").is_in(results.tournament.names), pl.col("same_as").is_null())
        .with_columns((pl.col("seconds") * share).alias("cost"))
    )
    searches = trials.filter(stage="search").group_by("block", "loss", "search")
    search = searches.agg(pl.col("cost").sum()).group_by("block", "loss").agg(_mean("search"))
    trainings = trials.filter(pl.col("is_winner"), stage="final", state="COMPLETE")
    training = trainings.group_by("block", "loss").agg(_mean("training"))
    both = search.join(training, on=["block", "loss"])
    whole = both.filter(pl.len().over("block") == len(results.tournament.names))
    means = whole.group_by("loss").agg(
        pl.col("search").sort().mean(), pl.col("training").sort().mean()
    )
    costs = {loss: values for loss, *values in means.rows()}
    if any(min(values) <= 0 for values in costs.values()):
        return []
    return [
        _Cost(
            loss=standing.competitor,
            score=standing.mean_score,
            search=costs[standing.competitor][0],
            training=costs[standing.competitor][1],
        )
        for standing in results.tournament.standings
        if standing.competitor in costs
    ]


def _mean(name: str) -> pl.Expr:
    return pl.col("cost").sort().mean().alias(name)


def _front(costs: list[_Cost], seconds: Mapping[str, float]) -> list[int]:
    points = ((seconds[cost.loss], cost.score) for cost in costs)
    return front_of(points, is_larger_better=True)


def _plot(
    costs: list[_Cost], seconds: Mapping[str, float], of: str, what: str, label: str, name: str
) -> Plot:
    unit, length = time_unit(max(seconds.values()))
    front = _front(costs, seconds)
    named = f"{of}{unit}{what}"
    return scatter_plot(
        [
            Point(
                name=cost.loss,
                label=cost.loss,
                x=seconds[cost.loss] / length,
                y=cost.score,
                detail="on the Pareto front" if number in front else "",
            )
            for number, cost in enumerate(costs)
        ],
        x=Axis.of_costs(
            named[0].upper() + named[1:], [value / length for value in seconds.values()]
        ),
        y=Axis(label=label),
        name=name,
        title=f"{label} against {named}",
        description="One point for each loss. A staircase joins those that none beats in both.",
        front=[(seconds[costs[n].loss] / length, costs[n].score) for n in front],
    )


def _table(
    costs: list[_Cost], fronts: list[list[int]], series: Mapping[str, Series], label: str
) -> Table:
    in_search, in_training = fronts
    return Table(
        name="score-against-cost-table",
        caption="Mean score and cost of each loss",
        columns=(
            *Column.texts("Loss"),
            *Column.numbers(label, "One search", "One training"),
            *Column.texts("Pareto front"),
        ),
        rows=tuple(
            (
                Cell.named(cost.loss, series),
                Cell.number(cost.score),
                Cell(text=duration(cost.search), order=cost.search),
                Cell(text=duration(cost.training), order=cost.training),
                Cell(
                    text=" and ".join(
                        name
                        for name, front in (("search", in_search), ("training", in_training))
                        if number in front
                    )
                ),
            )
            for number, cost in enumerate(costs)
        ),
        is_sortable=True,
    )
