"""Compute cost of each protocol, the Pareto front of cost and regret, the expected best of n."""

from collections.abc import Collection, Mapping
from typing import Any

import polars as pl

from analysis.selection.expected_best import expected_best
from analysis.selection.protocol_cost import cost_front, protocol_cost
from orchestrator.results.errors import PodiumError

__all__ = ["best_of_trials", "protocol_costs"]

_BUDGET_BASE = 2  # curves are shown at powers of it, and at all trials

_CURVE = {
    "protocol": pl.String,
    "num_trials": pl.Int64,
    **dict.fromkeys(("val", "test", "hours"), pl.Float64),
    "num_searches": pl.Int64,
}


def protocol_costs(
    attempts: pl.DataFrame,
    trials: pl.DataFrame,
    regrets: Mapping[str, float | None],
    *,
    leaking: Collection[str],
) -> pl.DataFrame:
    """Hours of each protocol, and whether it is on the Pareto front of hours and regret.

    Args:
        attempts: attempts of all trials, from ``attempt_table``. Copies count: each protocol is
            charged what it would have cost alone.
        trials: trials of the study, one row each.
        regrets: label of a protocol -> its mean regret.
        leaking: labels of the protocols that choose by test classes. Their regret cannot be
            attained, so they are neither on the front nor dominate others.

    Returns:
        The columns of ``protocol_cost``; ``num_searches`` and ``hours_per_search``, of the search
        alone: the finals retrain what was picked, over as many seeds as the study wants;
        ``regret``; and ``on_front``, by these two (null without a regret, and if it leaks).
    """
    searches = (
        trials.filter(pl.col("stage") == "search")
        .group_by("protocol")
        .agg(pl.col("search").n_unique().cast(pl.Int64).alias("num_searches"))
    )
    found = protocol_cost(attempts).join(
        searches, on="protocol", how="left", maintain_order="left"
    )
    known = pl.col("protocol").replace_strict(dict(regrets), default=None, return_dtype=pl.Float64)
    per_search = pl.col("search_hours") / pl.col("num_searches")
    rows = found.with_columns(per_search.alias("hours_per_search"), known.alias("regret"))
    is_offered = ~pl.col("protocol").is_in(list(leaking))
    offered = pl.when(is_offered).then(pl.col("regret")).alias("offered")
    front = cost_front(rows.with_columns(offered), cost="hours_per_search", regret="offered")
    return front.drop("offered")


def best_of_trials(
    runs: pl.DataFrame, search: Mapping[str, Any]
) -> tuple[pl.DataFrame, dict[str, str]]:
    """Expected best of n random trials, a mean over the searches of each protocol.

    Args:
        runs: search runs, from ``checked_runs``, without the published default, which is no
            random draw.
        search: section ``search`` of the resolved study.

    Returns:
        ``protocol``, ``num_trials`` (1, 2, 4, ... and all), ``val`` (unbiased), ``test`` (of that
        incumbent, null without quarantine), ``hours`` (of n trials) and ``num_searches``;
        and why a protocol is not among them.
    """
    frames, reasons = [], {}
    for (protocol,), group in runs.group_by("protocol", maintain_order=True):
        try:
            curve = expected_best(group, sampler=str(search["sampler"]))
        except PodiumError as error:
            reasons[str(protocol)] = str(error)
            continue
        frames.append(_mean_curve(curve))
    return (pl.concat(frames) if frames else pl.DataFrame(schema=_CURVE)), reasons


def _mean_curve(curve: pl.DataFrame) -> pl.DataFrame:
    """At the budgets shown, over the searches that reached them all."""
    most = curve.group_by("block", "loss", "repeat").agg(pl.col("num_trials").max())
    last = int(str(most["num_trials"].min() or 0))
    shown = [n for n in range(1, last + 1) if n == last or _is_power(n)]

    def whole(name: str) -> pl.Expr:
        return pl.when(pl.col(name).is_not_null().all()).then(pl.col(name).mean())

    return (
        curve.filter(pl.col("num_trials").is_in(shown))
        .group_by("protocol", "num_trials")
        .agg(
            whole("unbiased").alias("val"),
            whole("test").alias("test"),
            whole("gpu_hours").alias("hours"),
            pl.len().cast(pl.Int64).alias("num_searches"),
        )
        .sort("num_trials")
        .select(*_CURVE)
    )


def _is_power(number: int) -> bool:
    while number % _BUDGET_BASE == 0:
        number //= _BUDGET_BASE
    return number == 1
