"""What a protocol cost, and which protocols are worth their cost."""

import polars as pl

_HOUR_SECONDS = 3600


def protocol_cost(attempts: pl.DataFrame) -> pl.DataFrame:
    """GPU-hours of each protocol over all attempts, whatever their outcome.

    Args:
        attempts: table of attempts from ``checked_attempts``. Hours of different devices are added
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


def cost_front(
    frame: pl.DataFrame, *, cost: str = "gpu_hours", regret: str = "regret"
) -> pl.DataFrame:
    """The frame with ``on_front``: no other row costs and regrets as little, and one of them less.

    Rows that equal each other are on the front together. A row whose cost or regret is missing is
    not comparable: null, and it dominates nothing. Regrets are estimates: a front of few searches
    is no more certain than their intervals.

    Args:
        frame: one row per protocol (or whatever competes).
        cost: name of its column of costs, smaller is better.
        regret: name of its column of regrets, smaller is better.
    """
    points = frame.select(
        cost=pl.col(cost).cast(pl.Float64).fill_nan(None),
        regret=pl.col(regret).cast(pl.Float64).fill_nan(None),
    ).with_row_index("row")
    known = points.drop_nulls()
    others = known.select(other_cost="cost", other_regret="regret")
    as_good = (pl.col("other_cost") <= pl.col("cost")) & (
        pl.col("other_regret") <= pl.col("regret")
    )
    better = (pl.col("other_cost") < pl.col("cost")) | (pl.col("other_regret") < pl.col("regret"))
    front = (
        known.join(others, how="cross")
        .group_by("row")
        .agg((as_good & better).any().not_().alias("on_front"))
    )
    found = points.join(front, on="row", how="left", maintain_order="left")["on_front"]
    return frame.with_columns(found)
