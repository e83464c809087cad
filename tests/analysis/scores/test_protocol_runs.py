"""From a store's frames to the long tables: what becomes of odd trials and attempts."""

from dataclasses import replace
from datetime import timedelta

import polars as pl
import pytest

from podium.analysis.scores.protocol_runs import (
    Protocol,
    attempt_table,
    protocols_of,
    test_readings,
)
from tests.analysis.protocol_truth import STARTED_AT, Judge, ProtocolTruth
from tests.analysis.synthetic_protocols import ATTEMPT_SCHEMA, FramesReader, study_frames

test_readings.__test__ = False  # a function of the table of readings, no test

TRUTH = ProtocolTruth(
    judges={"kfold": Judge(kind="kfold", folds=3)},
    repeats=1,
    configs=4,
    seeds=1,
    pruned=(2,),
    failed=(3,),
    classes=2,
)


@pytest.fixture(scope="module")
def kfold_frames():
    return study_frames(TRUTH, seed=0)


def runs_of(frames, **changes):
    return FramesReader(replace(frames, **changes)).search_runs(frames.trials)


def test_a_trial_over_folds_has_a_row_for_each_with_its_best_epoch(kfold_frames):
    runs = runs_of(kfold_frames).filter(pl.col("config") == "c0")
    assert runs["fold"].to_list() == [0, 1, 2]
    values = kfold_frames.scores.collect().filter(
        pl.col("trial_id").str.contains("search.None.0.")
    )
    best = values.group_by("fold").agg(pl.col("value").max()).sort("fold")["value"]
    assert runs["val"].to_list() == best.to_list()


def test_pruned_and_failed_trials_keep_their_state(kfold_frames):
    runs = runs_of(kfold_frames)
    pruned = runs.filter(pl.col("config") == "c2")
    assert (pruned["state"].to_list(), pruned["fold"].to_list()) == (["PRUNED"], [0])
    failed = runs.filter(pl.col("config") == "c3")
    assert (failed["state"].to_list(), failed["val"].to_list()) == (["FAILED"], [None])


def test_nan_is_missing(kfold_frames):
    is_first = pl.col("trial_id") == pl.col("trial_id").first()
    value = pl.when(is_first).then(float("nan")).otherwise(pl.col("value")).alias("value")
    runs = runs_of(kfold_frames, scores=kfold_frames.scores.with_columns(value))
    assert runs.filter(pl.col("config") == "c0")["val"].to_list() == [None] * 3


def test_only_the_objective_at_its_k_is_read(kfold_frames):
    other = kfold_frames.test_scores.with_columns(
        pl.lit("map_at_r").alias("metric"), pl.lit(None, dtype=pl.Int32).alias("k")
    )
    mixed = pl.concat([kfold_frames.test_scores, other])
    assert runs_of(kfold_frames, test_scores=mixed).equals(runs_of(kfold_frames))


def test_a_single_split_is_no_fold():
    frames = study_frames(ProtocolTruth(judges={"fixed": Judge()}, repeats=1), seed=0)
    assert runs_of(frames)["fold"].to_list() == [None] * 8


def test_finals_on_all_classes_are_none_of_those_on_a_part(kfold_frames):
    found = FramesReader(kfold_frames).final_runs(kfold_frames.trials)
    assert found["fold"].unique().sort().to_list() == [0, 1, 2]
    assert set(found["stage"]) == {"final"}


def attempt(trial_id, number, seconds, *, lasted=None):
    end = None if seconds is None else STARTED_AT + timedelta(seconds=seconds)
    return {
        "trial_id": trial_id,
        "number": number,
        "started_at": STARTED_AT,
        "ended_at": end,
        "seconds": lasted,
    }


def seconds_of(frames, trial_id, *attempts, **options):
    rows = pl.LazyFrame(attempts, schema=ATTEMPT_SCHEMA)
    table = attempt_table(frames.trials, rows, **{"gpus_per_trial": 0.0, **options})
    mine = table.filter(pl.col("trial").str.ends_with(trial_id)).sort("number")
    return mine["gpu_seconds"].to_list()


def trial_of(frames, stage, **values):
    row = frames.trials.filter(
        pl.col("stage") == stage, *(pl.col(n) == v for n, v in values.items())
    )
    return row["trial_id"][0]


def test_a_trial_that_ran_once_took_its_own_seconds(kfold_frames):
    final = trial_of(kfold_frames, "final")
    assert seconds_of(kfold_frames, final, attempt(final, 1, 9_999)) == [100]
    assert seconds_of(kfold_frames, final) == [100]  # its attempts are not known
    assert seconds_of(kfold_frames, final, gpus_per_trial=0.5) == [50]


def test_a_search_does_not_pay_for_the_quarantine(kfold_frames):
    searched = trial_of(kfold_frames, "search", config_hash="c0")
    assert seconds_of(kfold_frames, searched, attempt(searched, 1, 9_999)) == [270]


def test_several_attempts_took_the_time_they_lasted(kfold_frames):
    final = trial_of(kfold_frames, "final")
    attempts = [attempt(final, 1, None), attempt(final, 2, 40), attempt(final, 3, 70)]
    assert seconds_of(kfold_frames, final, *attempts) == [None, 40, 70]
    attempts[-1] = attempt(final, 3, None)
    assert seconds_of(kfold_frames, final, *attempts) == [None, 40, 100]


def test_what_an_attempt_says_of_itself_counts_more_than_clocks(kfold_frames):
    final = trial_of(kfold_frames, "final")
    attempts = [attempt(final, 1, 9_999, lasted=30.0), attempt(final, 2, -5, lasted=70.0)]
    assert seconds_of(kfold_frames, final, *attempts) == [30, 70]


def test_a_copy_took_what_its_original_did(kfold_frames):
    final = trial_of(kfold_frames, "final")
    copy = kfold_frames.trials.filter(pl.col("trial_id") == final).with_columns(
        pl.lit("copy").alias("trial_id"),
        pl.lit(final).alias("same_as"),
        pl.lit("x").alias("search"),
    )
    both = pl.concat([kfold_frames.trials, copy])
    rows = pl.LazyFrame([attempt(final, 1, None), attempt(final, 2, 40)], schema=ATTEMPT_SCHEMA)
    table = attempt_table(both, rows, gpus_per_trial=0.0)
    assert table.filter(pl.col("trial") == "x/copy")["gpu_seconds"].to_list() == [None, 40]


def test_readings_are_summed_by_protocol_stage_and_leak(kfold_frames):
    trials = kfold_frames.trials.with_columns(
        pl.when(pl.col("stage") == "final").then(pl.lit("x")).alias("same_as")
    )
    (row,) = test_readings(trials).to_dicts()
    assert (row["protocol"], row["stage"], row["leaks"]) == ("kfold", "search", False)
    assert (row["readings"], row["trials"]) == (3 + 3 + 1, 3)


def test_protocols_come_in_the_order_of_the_study_and_leaking_ones_are_marked():
    study = {"protocols": [{"name": "", "kind": "test_tuned"}, {"name": "90-10", "kind": "fixed"}]}
    first, second = protocols_of(study)
    assert first == Protocol(label="test_tuned", kind="test_tuned", leaks=True)
    assert (first.shown, second.shown) == ("test_tuned (leaks)", "90-10")
