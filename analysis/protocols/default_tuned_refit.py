"""The ladder of the final stage: published default, tuned, and refit on all training classes.

What tuning bought is tuned less default, both trained on a part of the classes under one split;
what the training classes bought is the tuned config on all of them less itself on the part.
"""

from dataclasses import dataclass

import polars as pl

from analysis.hypothesis_tests.group_means import Cells, independent_cells

__all__ = ["GAPS", "RUNGS", "FinalCells", "final_cells"]

# Name of a rung -> finalist and what it was trained on.
RUNGS = {
    "default_part": ("default", "part"),
    "tuned_part": ("winner", "part"),
    "default_all": ("default", "all"),
    "tuned_all": ("winner", "all"),
}

# Name of a gap -> the rung less the one before.
GAPS = {
    "tuning": ("tuned_part", "default_part"),
    "classes": ("tuned_all", "tuned_part"),
    "both": ("tuned_all", "default_part"),
    "tuning_all": ("tuned_all", "default_all"),
}

_CELL = ("protocol", "block", "loss", "repeat")
_SEED = (*_CELL, "seed")


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalCells:
    """The cells with a column for each rung and gap.

    Attributes:
        cells: with one repeat of each search, a cell is a seed instead: ``repeat`` holds it.
        unit: ``repeats`` or ``seeds``, what the intervals are over.
        num_kept: of each protocol, the searches whose winner is the published default.
        num_missing: finalists and seeds without a test score of every fold.
    """

    cells: Cells
    unit: str
    num_kept: dict[str, int]
    num_missing: int


def final_cells(
    trials: pl.DataFrame, test_scores: pl.LazyFrame, *, metric: str, k: int
) -> FinalCells:
    """Test scores of the finalists of every search, folds averaged.

    A finalist trained by one seed has a score if all its folds have one. Gaps are paired by seed.

    Args:
        trials: of the store, one row each.
        test_scores: the long frame of test scores.
        metric: the objective.
        k: which K of it.
    """
    finals = trials.filter(pl.col("stage") == "final")
    scored = test_scores.filter(pl.col("metric") == metric, pl.col("k") == k)
    tests = scored.select("trial_id", pl.col("value").fill_nan(None).alias("test")).collect()
    roles = pl.concat(
        finals.filter(flag).with_columns(pl.lit(role).alias("finalist"))
        for role, flag in (("default", "is_default"), ("winner", "is_winner"))
    )
    runs = (
        roles.with_columns(pl.col("seed_index").alias("seed"))
        .join(tests, on="trial_id", how="left")
        .sort(*_SEED, "finalist", "train_on", "fold")  # so that sums do not depend on the order
        .group_by(*_SEED, "finalist", "train_on")
        .agg(
            pl.col("test").mean(), pl.col("test").count().alias("known"), pl.col("num_folds").max()
        )
        .with_columns(
            pl.when(pl.col("known") >= pl.col("num_folds")).then(pl.col("test")).alias("test")
        )
    )
    seeds = _rungs(runs)
    several = seeds["repeat"].n_unique() > 1
    unit = seeds if several else seeds.with_columns(pl.col("seed").alias("repeat"))
    measures = (*RUNGS, *GAPS)
    averaged = unit.group_by(_CELL).agg(pl.col(measures).drop_nulls().mean()).sort(_CELL)
    return FinalCells(
        cells=independent_cells(averaged),
        unit="repeats" if several else "seeds",
        num_kept=_kept_defaults(finals),
        num_missing=runs["test"].null_count(),
    )


def _rungs(runs: pl.DataFrame) -> pl.DataFrame:
    """One row per seed, with a column for each rung and gap."""
    seeds = runs.select(_SEED).unique()
    for rung, (finalist, train_on) in RUNGS.items():
        side = runs.filter(pl.col("finalist") == finalist, pl.col("train_on") == train_on)
        seeds = seeds.join(
            side.select(*_SEED, pl.col("test").alias(rung)), on=list(_SEED), how="left"
        )
    return seeds.with_columns(
        (pl.col(upper) - pl.col(lower)).alias(gap) for gap, (upper, lower) in GAPS.items()
    ).sort(_SEED)


def _kept_defaults(finals: pl.DataFrame) -> dict[str, int]:
    kept = finals.group_by("protocol", "search").agg(
        (pl.col("is_winner") & pl.col("is_default")).any().alias("kept")
    )
    counts = kept.group_by("protocol").agg(pl.col("kept").sum()).sort("protocol")
    return {protocol: int(count) for protocol, count in counts.iter_rows()}
