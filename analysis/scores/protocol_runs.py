"""From the frames of the results store to the long tables that protocol statistics read.

`analysis.scores.protocol_run_checks` says what the columns mean. Scores stay shares of 1, as in
the store; percent is for display.

A row with ``same_as`` is a copy: another search suggested the same training, and it was done once.
A search needs its copies, since they are what it would have found alone. Counts of work done leave
them out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from podium.analysis.scores.protocol_run_checks import checked
from podium.errors import PodiumError

LEAKS = "leaks"

_RUN_COLUMNS = ("block", "loss", "protocol", "stage", "repeat", "state")


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """One protocol of a study.

    Attributes:
        label: name of the protocol in the store.
        kind: ``fixed``, ``kfold``, ...
        leaks: whether its searches choose by test classes.
    """

    label: str
    kind: str
    leaks: bool

    @property
    def shown(self) -> str:
        """The label as tables and figures have it."""
        return f"{self.label} ({LEAKS})" if self.leaks else self.label


def protocols_of(study: Mapping[str, Any]) -> tuple[Protocol, ...]:
    """The protocols of a resolved study, in its order."""
    return tuple(
        Protocol(
            label=values["name"] or values["kind"],
            kind=values["kind"],
            leaks=values["kind"] == "test_tuned",
        )
        for values in study["protocols"]
    )


def chosen_k(study: Mapping[str, Any], k: int | None) -> int:
    """The K that was asked for; None means the first of the resolved study.

    Raises:
        PodiumError: the study has no such K.
    """
    ks: list[int] = study["ks"]
    if k is not None and k not in ks:
        raise PodiumError(f"k must be one of {', '.join(map(str, ks))}; got {k}")
    return ks[0] if k is None else k


def stopping_protocols(runs: pl.DataFrame) -> list[str]:
    """The protocols whose searches stopped a trial early, sorted."""
    return runs.filter(pl.col("state") == "PRUNED")["protocol"].unique().sort().to_list()


def complete_trials(trials: pl.DataFrame) -> pl.DataFrame:
    """The trials of searches that ran to their end."""
    return trials.filter(pl.col("stage") == "search", pl.col("state") == "COMPLETE")


def class_hits_of(trials: pl.DataFrame, hits: pl.DataFrame) -> pl.DataFrame:
    """The table of class hits of these trials, at one K.

    Args:
        trials: trials from ``complete_trials``, each with a ``number``.
        hits: their hits on validation: ``number``, ``fold``, ``epoch``, ``class_id``, ``queries``
            (at least 1) and ``hits``.
    """
    names = trials.select(
        *("block", "loss", "protocol", "repeat", "num_folds"),
        pl.col("config_hash").alias("config"),
        pl.col("seed_index").alias("seed"),
    )
    enums = [  # since a study has millions of rows
        pl.col(name).cast(pl.Enum(names[name].unique().sort()))
        for name in ("block", "loss", "protocol", "config")
    ]
    runs = pl.concat([trials.select("number"), names.with_columns(enums)], how="horizontal")
    named = hits.join(runs, on="number").drop("number")
    return checked(_without_single_fold(named), "class hits")


def attempt_table(
    trials: pl.DataFrame, attempts: pl.LazyFrame, *, gpus_per_trial: float | pl.Expr
) -> pl.DataFrame:
    """Every attempt at every trial of searches and finals, and what it took.

    The last attempt of a trial that ran once took the trial's own ``seconds``. Where there were
    several, each took the seconds it lasted, in older stores the time between its start and its
    end by clocks that may be set; of one that was killed with its driver nothing is known, and the
    last one took its trial's time if its own is not known. A copy took what its original did.
    What a trial of a search spent on test classes is left out: the quarantine's reading is no part
    of the protocol.

    Args:
        trials: trials of the store, one row each.
        attempts: frame of attempts; a trial without any has one, of its own ``seconds``.
        gpus_per_trial: GPUs of a trial, from `analysis.scores.gpu_shares.gpus_per_trial`; 0
            counts the time of a worker slot without a GPU.
    """
    original = pl.coalesce("same_as", "trial_id")
    is_search = pl.col("stage") == "search"
    by_clock = (pl.col("ended_at") - pl.col("started_at")).dt.total_microseconds() / 1e6
    known = attempts.select(
        pl.col("trial_id").alias("original"),
        "number",
        pl.coalesce("seconds", by_clock).alias("lasted"),
    ).collect()
    counted = known.with_columns(pl.len().over("original").alias("num_attempts"))
    rows = (
        trials.filter(pl.col("stage").is_in(["search", "final"]))
        .select(
            *("protocol", "stage", "state", "device"),
            pl.when(is_search).then(pl.col("test_seconds").fill_null(0.0)).alias("reading"),
            "seconds",
            _weight(gpus_per_trial).alias("gpus"),
            pl.concat_str("search", "trial_id", separator="/").alias("trial"),
            original.alias("original"),
        )
        .join(counted, on="original", how="left")
        .with_columns(pl.col("number", "num_attempts").fill_null(1))
    )
    is_last = pl.col("number") == pl.col("num_attempts")
    taken = (
        pl.when(pl.col("num_attempts") == 1)
        .then(pl.col("seconds"))
        .when(is_last)
        .then(pl.coalesce("lasted", "seconds"))
        .otherwise(pl.col("lasted"))
    )
    needed = pl.when(is_last).then(taken - pl.col("reading").fill_null(0.0)).otherwise(taken)
    seconds = needed.clip(lower_bound=0.0) * pl.col("gpus")
    return checked(rows.with_columns(seconds.alias("gpu_seconds")), "attempts")


def _weight(gpus_per_trial: float | pl.Expr) -> pl.Expr:
    return gpus_per_trial if isinstance(gpus_per_trial, pl.Expr) else pl.lit(gpus_per_trial or 1.0)


def test_readings(trials: pl.DataFrame) -> pl.DataFrame:
    """How often test classes were scored: ``readings`` by ``protocol``, ``stage`` and ``leaks``.

    Copies were not scored again and do not count. ``trials`` did the reading. Sorted.
    """
    return (
        trials.filter(pl.col("same_as").is_null(), pl.col("test_readings") > 0)
        .group_by("protocol", "stage", "leaks")
        .agg(
            pl.col("test_readings").cast(pl.Int64).sum().alias("readings"),
            pl.len().cast(pl.Int64).alias("trials"),
        )
        .sort("protocol", "stage", "leaks")
    )


def runs_of(
    trials: pl.DataFrame, scores: pl.LazyFrame, test_scores: pl.LazyFrame, *, metric: str, k: int
) -> pl.DataFrame:
    """The runs of trials of searches or finals: one row per trial, or per fold of several.

    Args:
        trials: trials of the store, one row each.
        scores: long frame of training and validation scores; ``val`` is the best of a fold's
            epochs, which is that of the epoch it selected.
        test_scores: long frame of test scores, out of quarantine; empty without one.
        metric: name of the objective.
        k: K of the objective.
    """
    fold = ["trial_id", "search", "fold"]
    is_objective = (pl.col("metric") == metric) & (pl.col("k") == k)
    value = pl.col("value").fill_nan(None)
    vals = (
        scores.filter(is_objective, pl.col("role") == "val")
        .group_by(fold)
        .agg(value.max().alias("val"))
        .collect()
    )
    tests = test_scores.filter(is_objective).select(*fold, value.alias("test")).collect()
    found = vals.join(tests, on=fold, how="full", coalesce=True)
    rows = (
        trials.rename({"fold": "trial_fold"})
        .select(
            *_RUN_COLUMNS,
            *("trial_id", "search", "num_folds"),
            pl.col("config_hash").alias("config"),
            "index",
            pl.col("seed_index").alias("seed"),
            "trial_fold",
        )
        .join(found, on=["trial_id", "search"], how="left")
        .with_columns(pl.coalesce("fold", "trial_fold").alias("fold"))
    )
    return checked(_without_single_fold(rows), "runs")


def _without_single_fold(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with a null ``fold`` where a config is evaluated on one split only."""
    fold = pl.when(pl.col("num_folds") > 1).then(pl.col("fold"))
    return rows.with_columns(fold.alias("fold"))
