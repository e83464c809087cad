"""Gains of the final stage: published default, tuned, and refit on all training classes.

The gain of tuning is tuned minus default, both trained on a part of the classes under one split;
the gain of the training classes is the tuned config trained on all of them minus on the part.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from podium.analysis.hypothesis_tests.group_means import (
    group_means,
    independent_cells,
    paired_differences,
)
from podium.analysis.scores.cached_reader import CachedReader

_CONDITIONS = ("default_part", "tuned_part", "default_all", "tuned_all")

# Name of a gain -> the condition after, and the one before that is subtracted from it.
_GAINS = {
    "tuning": ("tuned_part", "default_part"),
    "classes": ("tuned_all", "tuned_part"),
    "both": ("tuned_all", "default_part"),
    "tuning_all": ("tuned_all", "default_all"),
}

_MEASURES = (*_CONDITIONS, *_GAINS)
_CELL = ("protocol", "block", "loss", "repeat")
_SEED = (*_CELL, "seed")
_UNTESTED = [pl.lit(None, pl.Float64).alias(name) for name in ("p_value", "p_holm")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finals:
    """Test scores of the finalists by condition, and the gains between conditions.

    Attributes:
        unit: ``repeats``, or ``seeds`` with one repeat: what the intervals are over.
        means: conditions and gains by protocol, from ``group_means``.
        by_loss: conditions and gains by protocol and loss.
        no_gain: why there is no gain of the training classes; else empty.
        differences: differences of the conditions between protocols, from ``paired_differences``;
            without p over seeds, which say nothing of repeating a search.
        num_kept: label of a protocol -> number of searches whose winner is the published default.
        num_missing: number of finalists and seeds without a test score of every fold.
    """

    unit: str
    means: pl.DataFrame
    by_loss: pl.DataFrame
    no_gain: str
    differences: pl.DataFrame
    num_kept: dict[str, int]
    num_missing: int


def study_finals(reader: CachedReader, trials: pl.DataFrame, *, order: Sequence[str]) -> Finals:
    """Test scores of the finalists of every search, folds averaged, and their means.

    A finalist trained by one seed has a score if all its folds have one. Gaps are paired by seed.
    """
    finals = trials.filter(pl.col("stage") == "final")
    is_objective = (pl.col("metric") == reader.objective) & (pl.col("k") == reader.k)
    scored = reader.test_scores().filter(is_objective)
    tests = scored.select("trial_id", pl.col("value").fill_nan(None).alias("test")).collect()
    roles = pl.concat(
        finals.filter(flag).with_columns(pl.format(f"{role}_{{}}", "train_on").alias("condition"))
        for role, flag in (("default", "is_default"), ("tuned", "is_winner"))
    )
    runs = (
        roles.with_columns(pl.col("seed_index").alias("seed"))
        .join(tests, on="trial_id", how="left")
        .sort(*_SEED, "condition", "fold")  # so that sums do not depend on the order
        .group_by(*_SEED, "condition")
        .agg(
            pl.col("test").mean(), pl.col("test").count().alias("known"), pl.col("num_folds").max()
        )
        .with_columns(
            pl.when(pl.col("known") >= pl.col("num_folds")).then(pl.col("test")).alias("test")
        )
    )
    by_condition = runs.pivot("condition", on_columns=_CONDITIONS, index=_SEED, values="test")
    seeds = by_condition.with_columns(
        (pl.col(after) - pl.col(before)).alias(gain) for gain, (after, before) in _GAINS.items()
    ).sort(_SEED)
    several = seeds["repeat"].n_unique() > 1
    unit = seeds if several else seeds.with_columns(pl.col("seed").alias("repeat"))
    averaged = unit.group_by(_CELL).agg(pl.col(_MEASURES).drop_nulls().mean()).sort(_CELL)
    cells = independent_cells(averaged)
    is_kept = (pl.col("is_winner") & pl.col("is_default")).any()
    kept = finals.group_by("protocol", "search").agg(is_kept.alias("kept"))
    differences = paired_differences(cells, _CONDITIONS, order=order)
    return Finals(
        unit="repeats" if several else "seeds",
        means=group_means(cells, _MEASURES),
        by_loss=group_means(cells, _MEASURES, by=("protocol", "loss")),
        no_gain=_no_gain(averaged),
        differences=differences if several else differences.with_columns(_UNTESTED),
        num_kept=dict(kept.group_by("protocol").agg(pl.col("kept").sum()).sort("protocol").rows()),
        num_missing=runs["test"].null_count(),
    )


def _no_gain(averaged: pl.DataFrame) -> str:
    if averaged.is_empty():
        return "no final trial has been tested yet"
    if averaged["classes"].count():
        return ""
    return (
        "the gain of the training classes needs finals on a part and on all of them"
        " (final.train_on: [part, all])"
    )
