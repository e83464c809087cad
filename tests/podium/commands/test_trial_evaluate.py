"""podium trial evaluate on a study that was really trained."""

import json

import polars as pl
import pytest

from podium.orchestrator.results.trial_files.reader import Reader
from tests.podium.calling import call
from tests.podium.kept_studies import trial_of


def evaluated(capsys, *arguments):
    called = call(capsys, "trial", "evaluate", *arguments, "--json")
    assert called.code == 0, called.err
    return {(row["fold"], row["metric"], row["k"]): row for row in json.loads(called.out)}


def recorded(storage, trial_id):
    scores = Reader(storage / "tiny").test_scores().filter(pl.col("trial_id") == trial_id)
    return {
        (row["fold"], row["metric"], row["k"]): row["value"]
        for row in scores.collect().iter_rows(named=True)
    }


@pytest.mark.parametrize("stage", ["final", "baseline"])
def test_evaluate_gives_the_scores_that_were_recorded(capsys, storage, here, stage):
    trial_id = trial_of(storage, stage)
    before = recorded(storage, trial_id)
    metrics = ",".join(dict.fromkeys(metric for _, metric, _ in before))
    found = evaluated(capsys, trial_id, "--metric", metrics, *here)
    assert {place: row["value"] for place, row in found.items()} == before


def test_evaluate_takes_ks_that_the_study_does_not_have(capsys, storage, here):
    found = evaluated(capsys, trial_of(storage), "--k", "1,3,71", *here)
    assert [k for _, _, k in found] == [1, 3, 71]
    assert found[0, "recall", 71]["value"] == 1.0
    assert found[0, "recall", 1]["queries"] == 72


def test_evaluate_without_embeddings_computes_them_by_the_weights(capsys, storage):
    trial_id = trial_of(storage)
    study = ("--study", storage / "without")
    called = call(capsys, "trial", "evaluate", trial_id, *study, "--csv")
    assert called.code == 0
    assert "its weights compute them again" in called.err
    stored = call(capsys, "trial", "evaluate", trial_id, "--study", storage / "tiny", "--csv")
    assert called.out == stored.out
    assert stored.err == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--metric", "recal"), "unknown metric 'recal' (did you mean 'recall'"),
        (("--k", f"1,{10**30}"), f"every K must be at least 1 and at most {2**31 - 1}; got 1000"),
        (("--k", "1,x"), "--k must be whole numbers such as 1,10,100; got '1,x'"),
        (("--k", "0"), "every K must be at least 1 and at most 2147483647; got 0"),
    ],
)
def test_evaluate_refuses_what_it_cannot_compute(capsys, storage, here, arguments, words):
    called = call(capsys, "trial", "evaluate", trial_of(storage), *arguments, *here)
    assert called.code == 2
    assert words in called.err
    assert called.err.count("\n") == 1


@pytest.mark.parametrize(
    ("stage", "study", "told"),
    [
        (
            "search",
            "tiny",
            "only final and baseline trials leave embeddings or weights",
        ),
        ("final", "nothing", "has no embeddings or weights in"),
    ],
)
def test_a_trial_that_left_nothing_is_reported(capsys, storage, stage, study, told):
    trial_id = trial_of(storage, stage, study)
    called = call(capsys, "trial", "evaluate", trial_id, "--study", storage / study)
    assert called.code == 2
    assert told in called.err
