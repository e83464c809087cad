"""Columns such as test_recall_at_1: means over folds, never of searches."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from podium.orchestrator.results.records.metric_columns import StoredMetric, known_test_columns
from podium.orchestrator.results.records.trial_schema import trial_schema
from podium.orchestrator.results.trial_files.reader import Reader
from tests.orchestrator.results.store_rows import (
    NAME,
    SCHEMA,
    commit,
    new_store,
    row,
    score,
)

FLAT = list(known_test_columns(SCHEMA.names))


def of_tests(metric, k, value, fold=0):
    return {**score("test"), "metric": metric, "k": k, "value": value, "fold": fold}


FOLDS = [
    *(of_tests("recall", 1, value, fold) for fold, value in enumerate((0.6, 0.7, 0.2))),
    *(of_tests("nmi", None, value, fold) for fold, value in enumerate((0.5, 0.25))),
    of_tests("recall", 2, 0.75),
    of_tests("f1", None, None),
]
EXPECTED = {
    "test_recall_at_1": pytest.approx((0.6 + 0.7 + 0.2) / 3),
    "test_recall_at_2": 0.75,
    "test_r_precision": None,
    "test_map_at_r": None,
    "test_nmi": 0.375,
    "test_f1": None,
}


def trial(index, stage):
    return row(index, stage=stage, test_scores=FOLDS)


@pytest.fixture
def store(tmp_path):
    stages = ("search", "final", "baseline", "final")
    store = commit(new_store(tmp_path), *(trial(i, stage) for i, stage in enumerate(stages)))
    return commit(store, row(4, stage="final", state="FAILED"))


def flat_of(frame):
    return {row["trial_id"]: {name: row[name] for name in FLAT} for row in frame.to_dicts()}


def test_a_column_is_the_mean_over_the_folds_of_its_trial(store):
    found = flat_of(Reader(store.folder).trials().collect())
    assert found["t001"] == found["t002"] == found["t003"] == EXPECTED
    assert found["t000"] == found["t004"] == dict.fromkeys(FLAT), "a search, and an untested final"
    assert flat_of(pl.read_parquet(f"{store.folder}/**/*.parquet")) == found


def test_what_a_row_says_of_them_itself_is_not_taken(tmp_path):
    store = commit(new_store(tmp_path), {**trial(0, "search"), "test_recall_at_1": 0.9})
    assert Reader(store.folder).trials().collect()["test_recall_at_1"].to_list() == [None]


def test_the_frame_of_searches_is_the_same_whatever_tests_say(tmp_path):
    other = [{**entry, "value": 1.0} for entry in FOLDS]
    for name, scores in (("one", FOLDS), ("other", other)):
        rows = (
            row(i, stage=stage, test_scores=scores) for i, stage in enumerate(("search", "final"))
        )
        commit(new_store(tmp_path / name), *rows)
    found = [Reader(tmp_path / name / NAME).decisions() for name in ("one", "other")]
    assert_frame_equal(*found)
    assert not set(FLAT) & set(found[0].columns)


def test_continuous_labels_have_columns_of_their_metrics_and_none_without_k():
    metrics = (StoredMetric("ndcg", "maximise"), StoredMetric("mean_label_distance", "minimise"))
    assert known_test_columns(trial_schema((1, 4), {}, metrics).names) == {
        "test_ndcg_at_1": ("ndcg", 1),
        "test_ndcg_at_4": ("ndcg", 4),
        "test_mean_label_distance_at_1": ("mean_label_distance", 1),
        "test_mean_label_distance_at_4": ("mean_label_distance", 4),
    }


def test_columns_that_only_begin_alike_are_no_scores():
    names = ("test_hash", "test_readings", "test_seconds", "test_scores", "val_recall_at_1")
    assert known_test_columns(names) == {}
