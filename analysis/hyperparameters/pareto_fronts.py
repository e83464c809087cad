"""Pareto fronts of searches for two objectives: high scores in little training time."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from podium.analysis.protocols.costs import cost_front


def has_time_objective(study: Mapping[str, Any]) -> bool:
    """Whether the searches of a resolved study also minimise training time."""
    return "seconds" in study.get("search", {}).get("objectives", ())


def with_pareto_fronts(trials: pl.DataFrame) -> pl.DataFrame:
    """The trials with columns ``training_seconds`` and ``on_front``.

    A complete trial of the search stage is on the front of its search if no other one dominates
    it: at least its objective in at most its seconds, and better in one of the two. Null for all
    other trials.

    Args:
        trials: any trials with ``search``, ``stage``, ``state``, ``objective``, ``seconds`` and
            ``test_seconds``, the part of the seconds that was spent on test classes.
    """
    timed = trials.with_columns(training_seconds=pl.col("seconds") - pl.col("test_seconds"))
    competing = timed.with_row_index("row").filter(stage="search", state="COMPLETE")
    fronts = [
        cost_front(
            part.with_columns(shortfall=-pl.col("objective")),
            cost="training_seconds",
            regret="shortfall",
        ).select("row", "on_front")
        for part in competing.partition_by("search")
    ]
    empty = pl.DataFrame(schema={"row": pl.get_index_type(), "on_front": pl.Boolean})
    marked = pl.concat([empty, *fronts])
    return timed.with_row_index("row").join(marked, on="row", how="left").sort("row").drop("row")
