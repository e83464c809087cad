"""Test and validation of each config over the folds of its protocol."""

import math

import polars as pl

from analysis.estimates.kendall_tau import kendall_tau
from analysis.hypothesis_tests.corrected_resampled_t import fold_statistics

__all__ = ["fold_summary"]

_CONFIG = ("block", "loss", "protocol", "config")

_END = {
    "num_folds": pl.Int64,
    "test_mean": pl.Float64,
    "test_std": pl.Float64,
    "val_mean": pl.Float64,
    "val_std": pl.Float64,
    "tau": pl.Float64,
}


def fold_summary(runs: pl.DataFrame) -> pl.DataFrame:
    """Mean and sd (ddof 1) over folds, and how validation and test agree over them.

    Repeats and seeds are averaged within a fold. A fold without a completed run that has both
    scores is missing. ``tau`` compares folds, each with validation classes of its own, some easier
    than others: it says nothing about choosing a config (see ``rank_agreement``).

    Args:
        runs: from ``checked_runs``; rows without a fold are left out.

    Returns:
        ``block``, ``loss``, ``protocol``, ``config``, ``num_folds``, ``test_mean``,
        ``test_std``, ``val_mean``, ``val_std`` (null with one fold) and ``tau`` (Kendall's tau-b;
        null if undefined).
    """
    folds = (
        runs.filter(pl.col("state") == "COMPLETE")
        .drop_nulls(["fold", "val", "test"])
        .group_by(*_CONFIG, "fold")
        .agg(pl.col("val", "test").mean())
        .sort(*_CONFIG, "fold")
    )
    rows = []
    for config, group in folds.group_by(_CONFIG, maintain_order=True):
        val, test = group["val"].to_list(), group["test"].to_list()
        tau = kendall_tau(val, test)
        rows.append(
            {
                **dict(zip(_CONFIG, config, strict=True)),
                "num_folds": len(group),
                "test_mean": fold_statistics(test).mean,
                "test_std": fold_statistics(test).std,
                "val_mean": fold_statistics(val).mean,
                "val_std": fold_statistics(val).std,
                "tau": None if math.isnan(tau) else tau,
            }
        )
    return pl.DataFrame(rows, schema={**dict.fromkeys(_CONFIG, pl.String), **_END})
