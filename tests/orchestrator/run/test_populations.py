"""Studies whose searches are trained as populations, against the same studies trial by trial."""

from datetime import UTC, datetime

import pytest

from orchestrator.executors.in_process import InProcessExecutor
from orchestrator.executors.ray_tune import RayTuneExecutor
from orchestrator.planning.image_cost import TOGETHER
from orchestrator.planning.measured_costs import measured_costs
from orchestrator.results.records.attempts import read_attempts
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.trial_files.reader import Reader
from orchestrator.study.resource_demand import most_demand
from orchestrator.verify.verify_store import verify_store
from orchestrator.worker.worker import train
from tests.orchestrator.small_study import InterruptedAfter, run_here
from tests.orchestrator.study_files import load

TEXT = """\
study: heads
datasets: [{name: glyphs, classes: 24, instances_per_class: 8}]
backbones: [conv_small]
embedding_dims: [8]
losses: [multi_similarity, proxy_anchor]
protocol: {kind: kfold, folds: 2}
search: {trials: 8, sampler: random, population: 4, early_stopping: none}
final: {seeds: 1}
training: {mode: frozen_features, epochs: 3, batch_size: 16}
"""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def study_in(folder, *overrides):
    folder.mkdir(exist_ok=True)
    return load(folder, TEXT, *overrides)


def run(study, storage, executor=None):
    return run_here(study, storage, executor or InProcessExecutor(train))


def trials_in(storage):
    return Reader(storage / "heads").trials().collect().sort("trial_id")


def searched(storage):
    trials = trials_in(storage)
    return trials.filter(trials["stage"] == "search")


def assert_like_alone(together, alone):
    """Members are the trials that they would be alone, up to one query of 96."""
    assert together["trial_id"].to_list() == alone["trial_id"].to_list()
    off = (together["objective"] - alone["objective"]).abs()
    assert off.max() <= 1 / 48
    assert (off < 1e-9).mean() >= 0.9


def test_members_are_the_trials_that_they_are_alone(tmp_path):
    run(study_in(tmp_path / "a"), tmp_path / "a")
    run(study_in(tmp_path / "b", "search.population=1"), tmp_path / "b")
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


def test_a_plan_learns_what_heads_cost_alone_and_together(tmp_path):
    study = study_in(tmp_path)
    run(study, tmp_path)
    alone, together = sorted(
        measured_costs(study, Reader(tmp_path / "heads"), datetime(2020, 1, 1, tzinfo=UTC)),
        key=lambda cost: cost.conditions.mode,
    )
    assert (alone.conditions.mode, together.conditions.mode) == ("frozen_features", TOGETHER)
    assert together.trials == 16
    assert alone.tested > 0
    assert together.tested is None


def test_a_plan_learns_nothing_where_no_trial_has_ended(tmp_path):
    study = study_in(tmp_path)
    run(study, tmp_path, InterruptedAfter(1, train))
    assert not len(trials_in(tmp_path))
    assert (
        measured_costs(study, Reader(tmp_path / "heads"), datetime(2020, 1, 1, tzinfo=UTC)) == []
    )


def test_searches_that_are_stopped_early_come_to_an_end(tmp_path):
    study = study_in(tmp_path, "search.early_stopping=asha", "search.sampler=tpe")
    assert not run(study, tmp_path).interrupted
    trials = searched(tmp_path)
    assert len(trials) == 16
    assert set(trials["state"]) == {"COMPLETE", "PRUNED"}


@pytest.mark.parametrize("steps", [3, 20, 37])
def test_an_interrupted_population_is_trained_again_and_no_trial_twice(tmp_path, steps):
    study = study_in(tmp_path / "a")
    assert run(study, tmp_path / "a", InterruptedAfter(steps, train)).interrupted
    before = set(trials_in(tmp_path / "a")["trial_id"])
    assert not run(study, tmp_path / "a").interrupted
    run(study_in(tmp_path / "b"), tmp_path / "b")
    assert_like_alone(searched(tmp_path / "a"), searched(tmp_path / "b"))
    attempts = read_attempts(StudyPaths(tmp_path / "a" / "heads"))
    assert {it.trial_id for it in attempts if it.number > 1}.isdisjoint(before)
    assert not verify_store(tmp_path / "a" / "heads").problems


@pytest.mark.ray
@pytest.mark.filterwarnings("default")
def test_processes_of_a_cluster_train_populations(tmp_path):
    study = study_in(tmp_path / "a", "search.early_stopping=asha")
    executor = RayTuneExecutor(most_demand(study), trial=train)
    assert not run(study, tmp_path / "a", executor).interrupted
    assert len(searched(tmp_path / "a")) == 16
    pids = {(it.pid, it.node) for it in read_attempts(StudyPaths(tmp_path / "a" / "heads"))}
    assert len(pids) <= 4
