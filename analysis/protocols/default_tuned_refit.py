"""Gains of the final stage: published default, tuned, and refit on all training classes.

The gain of tuning is tuned minus default, both trained on a part of the classes under one split;
the gain of the training classes is the tuned config trained on all of them minus on the part.
"""

from dataclasses import dataclass

import polars as pl

from analysis.hypothesis_tests.group_means import Cells, independent_cells

__all__ = ["CONDITIONS", "GAINS", "FinalCells", "final_cells"]

# Name of a condition -> finalist, and the classes that it was trained on.
CONDITIONS = {
    "default_part": ("default", "part"),
    "tuned_part": ("winner", "part"),
    "default_all": ("default", "all"),
    "tuned_all": ("winner", "all"),
}

# Name of a gain -> the condition after, and the one before that is subtracted from it.
GAINS = {
    "tuning": ("tuned_part", "default_part"),
    "classes": ("tuned_all", "tuned_part"),
    "both": ("tuned_all", "default_part"),
    "tuning_all": ("tuned_all", "default_all"),
}

_CELL = ("protocol", "block", "loss", "repeat")
_SEED = (*_CELL, "seed")


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalCells:
    """Test scores of the finalists by condition, and the gains between conditions.

    Attributes:
        cells: one row per repeat of each search, with a column for each condition and gain. With
            one repeat of each search a cell is a seed instead, held in column ``repeat``.
        unit: ``repeats`` or ``seeds``, what the intervals are over.
        num_kept: label of a protocol -> number of searches whose winner is the published default.
        num_missing: number of finalists and seeds without a test score of every fold.
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
        trials: trials of the study, one row each.
        test_scores: long frame of test scores.
        metric: name of the objective.
        k: value of K of the objective.
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
    seeds = _by_condition(runs)
    several = seeds["repeat"].n_unique() > 1
    unit = seeds if several else seeds.with_columns(pl.col("seed").alias("repeat"))
    measures = (*CONDITIONS, *GAINS)
    averaged = unit.group_by(_CELL).agg(pl.col(measures).drop_nulls().mean()).sort(_CELL)
    return FinalCells(
        cells=independent_cells(averaged),
        unit="repeats" if several else "seeds",
        num_kept=_kept_defaults(finals),
        num_missing=runs["test"].null_count(),
    )


def _by_condition(runs: pl.DataFrame) -> pl.DataFrame:
    """One row per seed, with a column for each condition and gain; null where a run is missing."""
    seeds = runs.select(_SEED).unique()
    for condition, (finalist, train_on) in CONDITIONS.items():
        of_condition = runs.filter(pl.col("finalist") == finalist, pl.col("train_on") == train_on)
        seeds = seeds.join(
            of_condition.select(*_SEED, pl.col("test").alias(condition)),
            on=list(_SEED),
            how="left",
        )
    return seeds.with_columns(
        (pl.col(after) - pl.col(before)).alias(gain) for gain, (after, before) in GAINS.items()
    ).sort(_SEED)


def _kept_defaults(finals: pl.DataFrame) -> dict[str, int]:
    kept = finals.group_by("protocol", "search").agg(
        (pl.col("is_winner") & pl.col("is_default")).any().alias("kept")
    )
    counts = kept.group_by("protocol").agg(pl.col("kept").sum()).sort("protocol")
    return {protocol: int(count) for protocol, count in counts.iter_rows()}
