"""Studies whose searches are trained as populations, against the same studies trial by trial."""

import pytest

from podium.orchestrator.planning.measured_seconds import measured_seconds
from podium.orchestrator.results.records.journal import read_attempts
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.worker.worker import train
from tests.orchestrator.population_study import (
    assert_like_alone,
    run,
    searched,
    study_in,
    trials_in,
)
from tests.orchestrator.small_study import InterruptedAfter


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_members_are_the_trials_that_they_are_alone(tmp_path):
    few = ("search.trials=4", "training.epochs=2")
    run(study_in(tmp_path / "a", *few), tmp_path / "a")
    run(study_in(tmp_path / "b", *few, "search.population=1"), tmp_path / "b")
    assert_like_alone(searched(tmp_path / "a"), searched(tmp_path / "b"))
    assert trials_in(tmp_path / "a")["trial_id"].to_list() == (
        trials_in(tmp_path / "b")["trial_id"].to_list()
    )


def test_a_row_says_whether_its_trial_was_trained_with_others(tmp_path):
    run(study_in(tmp_path, "search.trials=9"), tmp_path)
    trials = trials_in(tmp_path)
    executors = {
        stage: sorted(trials.filter(trials["stage"] == stage)["executor"])
        for stage in ("search", "final", "baseline")
    }
    # Of 9 trials 8 fill populations of 4; who is left over is alone.
    assert executors["search"] == ["population"] * 16 + ["single"] * 2
    assert set(executors["final"] + executors["baseline"]) == {"single"}
    members = {it.trial_id: it.members for it in read_attempts(StudyPaths(tmp_path / "heads"))}
    together = trials.filter(trials["executor"] == "population")["trial_id"]
    assert {members[trial_id] for trial_id in together} == {4}


def test_a_plan_learns_nothing_where_no_trial_has_ended(tmp_path):
    study = study_in(tmp_path)
    run(study, tmp_path, InterruptedAfter(1, train))
    assert not len(trials_in(tmp_path))
    assert measured_seconds(study, Reader(tmp_path / "heads")) == {}
