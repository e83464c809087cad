"""Populations whose process dies: members are trained again, and none fails for another.

Workers and store are real; `test_attack_matrix` kills the processes of such a study on a cluster.
"""

from collections import Counter

import polars as pl
import pytest

from podium.orchestrator.results.records.journal import read_attempts
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.scheduling.executor_interface import Loss
from podium.orchestrator.verify.verify_store import verify_store
from podium.orchestrator.worker.worker import train
from tests.orchestrator.population_study import (
    MortalSlot,
    assert_like_alone,
    run,
    searched,
    study_in,
    trials_in,
)
from tests.orchestrator.small_study import InterruptedAfter

ONE = "losses=[proxy_anchor]"
DETERMINISTIC = (
    ONE,
    "search.order=deterministic",
    "search.early_stopping=asha",
    "search.sampler=tpe",
)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def undisturbed(factory, *overrides):
    with pytest.MonkeyPatch.context() as patch:
        folder = factory.mktemp("undisturbed")
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        run(study_in(folder, *overrides), folder)
    return searched(folder)


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The searches of a study that nothing befalls."""
    return undisturbed(tmp_path_factory, ONE)


@pytest.fixture(scope="module")
def expected_in_order(tmp_path_factory):
    """The same, in deterministic order."""
    return undisturbed(tmp_path_factory, *DETERMINISTIC)


def attempts_in(storage):
    return list(read_attempts(StudyPaths(storage / "heads")))


def lost(cause):
    return Loss(cause=cause, message=f"told as {cause}")


def assert_sound(storage):
    assert not verify_store(storage / "heads").problems


def essence(trials):
    return trials.select("trial_id", "state", "rung", "objective", "epochs_run")


def test_an_interrupted_population_is_trained_again_and_no_trial_twice(tmp_path, expected):
    study = study_in(tmp_path, ONE)
    assert run(study, tmp_path, InterruptedAfter(10, train)).interrupted
    before = trials_in(tmp_path)
    assert not run(study, tmp_path).interrupted
    assert_like_alone(searched(tmp_path), expected)
    after = trials_in(tmp_path)
    assert after.filter(after["trial_id"].is_in(before["trial_id"].to_list())).equals(before)
    assert set(searched(tmp_path)["executor"]) == {"population"}
    assert set(after.filter(pl.col("stage") != "search")["executor"]) == {"single"}
    again = {it.trial_id: it.members for it in attempts_in(tmp_path) if it.number > 1}
    assert set(again).isdisjoint(before["trial_id"])
    assert_sound(tmp_path)


def test_who_is_left_of_an_interrupted_population_is_one_again(tmp_path):
    study = study_in(tmp_path, "search.trials=4")
    run(study, tmp_path, InterruptedAfter(3, train))
    run(study, tmp_path)
    again = [it for it in attempts_in(tmp_path) if it.number == 2]
    assert {(it.members, it.cpus) for it in again} == {(4, 0.25)}


def test_in_deterministic_order_the_trials_equal_those_of_an_undisturbed_study(
    tmp_path, expected_in_order
):
    study, steps = study_in(tmp_path, *DETERMINISTIC), 25
    while run(study, tmp_path, InterruptedAfter(steps, train)).interrupted:
        steps += 10
    assert essence(searched(tmp_path)).equals(essence(expected_in_order))
    assert "PRUNED" in set(searched(tmp_path)["state"])
    assert_sound(tmp_path)


def test_a_population_that_is_lost_once_ends_as_an_undisturbed_one(tmp_path, expected_in_order):
    study = study_in(tmp_path, *DETERMINISTIC)
    struck = []

    def fate(living, step):
        if step != 4 or set(living) <= set(struck):  # some members are pruned by then
            return None
        struck.extend(living)
        return lost("lost_worker")

    executor = MortalSlot(fate)
    end = run(study, tmp_path, executor)
    assert end.progress.failed == 0
    assert essence(searched(tmp_path)).equals(essence(expected_in_order))
    causes = Counter((it.trial_id, it.cause) for it in attempts_in(tmp_path))
    assert {key for key, _ in causes if causes[key, "lost_worker"]} == set(struck)
    # Whoever was over before is not trained again.
    assert Counter(trial_id for group in executor.groups for trial_id in group) == {
        trial_id: 1 + (trial_id in struck) for trial_id in trials_in(tmp_path)["trial_id"]
    }
    assert_sound(tmp_path)


def test_a_member_that_kills_its_population_again_and_again_fails_alone(tmp_path, expected):
    deadly = expected["trial_id"][5]

    def fate(living, step):
        return lost("lost_worker") if step == 1 and deadly in living else None

    executor = MortalSlot(fate)
    run(study_in(tmp_path, ONE), tmp_path, executor)
    trials = trials_in(tmp_path)
    failed = trials.filter(trials["state"] == "FAILED")
    assert failed["trial_id"].to_list() == [deadly]
    assert failed["cause"].to_list() == ["lost"]
    sizes = [len(group) for group in executor.groups if deadly in group]
    # The first attempt alone has an epoch that was never there alone, which is progress.
    assert sizes == [4, 2, 1, 1, 1, 1]
    companions = {trial_id for group in executor.groups if deadly in group for trial_id in group}
    for trial_id in companions - {deadly}:
        assert sum(trial_id in group for group in executor.groups) <= 3
    others = pl.col("trial_id") != deadly
    assert_like_alone(searched(tmp_path).filter(others), expected.filter(others))
    assert_sound(tmp_path)
