"""The configs of each search with their scores, as arrays. N configs of one search.

Only complete trials that the search drew from its space count: a pruned one was trained less and a
failed one has no score. Both are counted, and so are configs outside of the space, such as a
published default.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from podium.analysis.hyperparameters.searched_ranges import SearchedRange, searched_ranges

_KEYS = ("loss", "block", "protocol", "repeat", "search")
_READ = (*_KEYS, "stage", "index", "trial_id", "state", "is_default", "objective")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchConfigs:
    """One search.

    Attributes:
        loss: name of the loss.
        block: name of the block.
        repeat: number of the search's repeat, from 0.
        ranges: hyperparameter -> range or values that the search drew from.
        positions: hyperparameter -> position of each config (N,), as `SearchedRange.positions`.
        scores_N: scores by which configs are compared, on validation unless another was asked
            for; 0 to 1, higher is better.
        test_N: test scores of the same trials, NaN where there is none.
        num_trials: number of ended trials, including pruned, failed and left out ones.
        num_pruned: number of pruned trials.
        num_failed: number of failed trials.
        num_outside: number of complete configs outside of the space, which are left out.
    """

    loss: str
    block: str
    repeat: int
    ranges: Mapping[str, SearchedRange]
    positions: Mapping[str, NDArray[np.float64]]
    scores_N: NDArray[np.float64]
    test_N: NDArray[np.float64]
    num_trials: int
    num_pruned: int
    num_failed: int
    num_outside: int

    @property
    def num_configs(self) -> int:
        """Number N of configs that are compared."""
        return len(self.scores_N)


def search_configs(
    trials: pl.DataFrame, *, provenance: Mapping[str, Any], tested: pl.DataFrame | None = None
) -> tuple[SearchConfigs, ...]:
    """Every search, by loss, block, protocol and repeat.

    Args:
        trials: trials of the study, one row each; those of other stages are ignored, and a null
            or NaN ``objective`` is missing.
        provenance: provenance of the results folder, with its search spaces.
        tested: test scores, from ``configs_on_test``; None if nothing was tested.
    """
    searched = (
        trials.select(*_READ, pl.col("^hp\\..*$"))
        .filter(pl.col("stage") == "search")
        .with_columns(pl.col("objective").cast(pl.Float64).fill_nan(None).alias("_score"))
    )
    if tested is None:
        tested = pl.DataFrame(schema={"trial_id": pl.String, "test": pl.Float64})
    searched = searched.join(tested, on="trial_id", how="left").sort(*_KEYS, "index", "trial_id")
    return tuple(
        _search(part, provenance) for part in searched.partition_by(_KEYS, maintain_order=True)
    )


def configs_on_test(test_scores: pl.LazyFrame, *, metric: str, k: int) -> pl.DataFrame:
    """Mean test score over folds of every search trial that has one.

    The K of a metric without one is 0.

    Returns:
        ``trial_id`` and ``test``.
    """
    return (
        test_scores.filter(
            pl.col("stage") == "search", pl.col("metric") == metric, pl.col("k").fill_null(0) == k
        )
        .select("trial_id", "fold", pl.col("value").fill_nan(None))
        .drop_nulls("value")
        .collect()
        .sort("trial_id", "fold")
        .group_by("trial_id", maintain_order=True)
        .agg(pl.col("value").mean().alias("test"))
    )


def _search(part: pl.DataFrame, provenance: Mapping[str, Any]) -> SearchConfigs:
    first = part.row(0, named=True)
    complete = part.filter(pl.col("state") == "COMPLETE").drop_nulls("_score")
    searched = searched_ranges(provenance, first["loss"], first["block"])
    ranges = {name: item for name, item in searched.items() if f"hp.{name}" in part.columns}
    positions = {
        name: item.positions(complete[f"hp.{name}"].to_list()) for name, item in ranges.items()
    }
    inside_N = np.ones(complete.height, dtype=bool)
    for name, item in ranges.items():
        inside_N &= item.is_within(positions[name])
    kept = complete.filter(pl.Series(inside_N, dtype=pl.Boolean))
    states = part["state"]
    return SearchConfigs(
        loss=first["loss"],
        block=first["block"],
        repeat=first["repeat"],
        ranges=ranges,
        positions={name: found[inside_N] for name, found in positions.items()},
        scores_N=kept["_score"].to_numpy(),
        test_N=kept["test"].fill_null(float("nan")).to_numpy(),
        num_trials=part.height,
        num_pruned=int((states == "PRUNED").sum()),
        num_failed=int((states == "FAILED").sum()),
        num_outside=int((~inside_N).sum()),
    )
