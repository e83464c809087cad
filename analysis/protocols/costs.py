"""What each protocol cost, and the Pareto front of cost and regret."""

from collections.abc import Sequence

import polars as pl

from podium.analysis.protocols.selection_quality import SelectionQuality
from podium.analysis.scores.cached_reader import CachedReader
from podium.analysis.scores.protocol_runs import Protocol

_HOUR_SECONDS = 3600


def study_costs(
    reader: CachedReader,
    trials: pl.DataFrame,
    picked: SelectionQuality | None,
    protocols: Sequence[Protocol],
) -> pl.DataFrame:
    """Costs of a study's protocols.

    The regret of protocols that leak cannot be attained, so they are neither on the front nor
    dominate others.

    Returns:
        Hours of each protocol as if it had been run alone, so with its copies: the columns of
        ``protocol_cost``; ``num_searches`` and ``hours_per_search``, of the search alone: the
        finals retrain what was picked, over as many seeds as the study wants; ``regret``; and
        ``on_front``, by these two (null without a regret, and if it leaks).
    """
    searches = (
        trials.filter(pl.col("stage") == "search")
        .group_by("protocol")
        .agg(pl.col("search").n_unique().cast(pl.Int64).alias("num_searches"))
    )
    regrets = pl.DataFrame(schema={"protocol": pl.String, "regret": pl.Float64})
    if picked is not None:
        known = picked.means.filter(pl.col("measure") == "regret", pl.col("mean").is_not_null())
        if known["num_cells"].n_unique() == 1:  # else of unlike searches, so no front
            regrets = known.select("protocol", regret="mean")
    rows = (
        protocol_cost(reader.attempts_at(trials))
        .join(searches, on="protocol", how="left", maintain_order="left")
        .with_columns((pl.col("search_hours") / pl.col("num_searches")).alias("hours_per_search"))
        .join(regrets, on="protocol", how="left", maintain_order="left")
    )
    leaking = [protocol.label for protocol in protocols if protocol.leaks]
    offered = pl.when(~pl.col("protocol").is_in(leaking)).then(pl.col("regret"))
    return rows.with_columns(on_front(rows, pl.col("hours_per_search"), offered))


def hours_of(reader: CachedReader, trials: pl.DataFrame) -> float:
    """Hours of all attempts at these trials."""
    return float(reader.attempts_at(trials)["gpu_seconds"].sum()) / _HOUR_SECONDS


def protocol_cost(attempts: pl.DataFrame) -> pl.DataFrame:
    """GPU-hours of each protocol over all attempts, whatever their outcome.

    Args:
        attempts: table of attempts from ``checked``. Hours of different devices are added
            as they are, and ``num_devices`` says how many there were.

    Returns:
        ``protocol``, ``gpu_hours`` and its parts: ``search_hours`` + ``final_hours``. Of the
        total, ``failed_hours``, ``pruned_hours`` (by the state of the trial) and
        ``repeated_hours`` (all but the last attempt of each trial: lost to crashes and lost
        nodes; also counted by state). ``num_trials``, ``num_attempts``, ``num_unknown`` (attempts
        without a time, which are missing from all sums, so that the cost is at least what it
        says) and ``num_devices`` (kinds, unknown being one).
    """
    is_repeated = pl.col("number") < pl.col("number").max().over("protocol", "trial")
    hours = pl.col("gpu_hours")
    return (
        attempts.with_columns(
            gpu_hours=pl.col("gpu_seconds") / _HOUR_SECONDS, is_repeated=is_repeated
        )
        .group_by("protocol")
        .agg(
            hours.sum(),
            hours.filter(pl.col("stage") == "search").sum().alias("search_hours"),
            hours.filter(pl.col("stage") != "search").sum().alias("final_hours"),
            hours.filter(pl.col("state") == "FAILED").sum().alias("failed_hours"),
            hours.filter(pl.col("state") == "PRUNED").sum().alias("pruned_hours"),
            hours.filter("is_repeated").sum().alias("repeated_hours"),
            pl.col("trial").n_unique().alias("num_trials"),
            pl.len().alias("num_attempts"),
            pl.col("gpu_seconds").null_count().alias("num_unknown"),
            pl.col("device").n_unique().alias("num_devices"),
        )
        .sort("protocol")
    )


def on_front(frame: pl.DataFrame, cost: pl.Expr, regret: pl.Expr) -> pl.Series:
    """Whether no other row costs and regrets as little, and one of them less.

    Rows that equal each other are on the front together. A row whose cost or regret is missing is
    not comparable: null, and it dominates nothing.
    Regrets are estimates: a front of few searches is no more certain than their intervals.
    """
    points = frame.select(
        cost.cast(pl.Float64).fill_nan(None).alias("cost"),
        regret.cast(pl.Float64).fill_nan(None).alias("regret"),
    )
    known = points.drop_nulls().unique().sort("cost", "regret")
    least_before = pl.col("regret").cum_min().shift()
    front = known.with_columns(
        (pl.col("regret") < least_before).fill_null(value=True).alias("on_front")
    )
    return points.join(front, on=points.columns, how="left", maintain_order="left")["on_front"]
