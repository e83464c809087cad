"""Pareto fronts of searches for two objectives: high scores in little training time."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from podium.analysis.estimates.pareto_front import on_front


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
    competes = (pl.col("stage") == "search") & (pl.col("state") == "COMPLETE")
    shortfall = pl.when(competes).then(-pl.col("objective"))
    seconds = pl.col("seconds") - pl.col("test_seconds")
    return trials.with_columns(
        seconds.alias("training_seconds"),
        on_front(trials, seconds, shortfall, within=["search"]),
    )
