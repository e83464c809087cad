"""Finals that several searches ask for: trained once, and a row in each of the searches."""

import json
import random
from collections import Counter
from dataclasses import replace

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from podium.live.followed_study import FollowedStudy
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.trial_schema import IDENTITY_COLUMNS
from podium.orchestrator.results.trial_files import commit_trials
from podium.orchestrator.study.resource_demand import Capacity
from podium.orchestrator.study.study import BudgetSettings
from tests.orchestrator.planted import PlantedTrial, hashed
from tests.orchestrator.results.store_rows import check_store
from tests.orchestrator.scripted import ScriptedExecutor
from tests.orchestrator.shared_finals import (
    CROSSED,
    FOLDS,
    PROTOCOLS,
    SEEDS,
    SMALL,
    Counting,
    Killed,
    finals_of,
    run_planted,
)
from tests.orchestrator.small_study import InterruptedAfter, rows, run_here, tables


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    trial = Counting()
    return run_planted(CROSSED, tmp_path_factory.mktemp("undisturbed"), trial), trial.ran


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return run_planted(SMALL, tmp_path_factory.mktemp("small"))


def test_every_search_has_each_of_its_finals_exactly_once(undisturbed):
    storage, _ = undisturbed
    finals = finals_of(storage)
    by_search = dict(
        finals.group_by("search").agg(pl.struct("is_winner", "is_default").unique()).iter_rows()
    )
    assert len(by_search) == len(PROTOCOLS) * 2
    places = Counter(
        finals.select("search", "is_winner", "train_on", "seed_index", "fold").iter_rows()
    )
    # A winner that is the default itself is one finalist.
    roles = {
        search: {(role["is_winner"], role["is_default"]) for role in found}
        for search, found in by_search.items()
    }
    assert {(True, False), (False, True)} in roles.values()
    expected = Counter()
    for search, of_search in roles.items():
        for is_winner, _ in of_search:
            for seed in range(SEEDS):
                expected[search, is_winner, "all", seed, 0] += 1
                expected.update((search, is_winner, "part", seed, fold) for fold in range(FOLDS))
    assert places == expected


def test_finals_of_one_training_are_trained_once(undisturbed):
    storage, ran = undisturbed
    trials = rows(storage, CROSSED)
    originals = trials.filter(pl.col("same_as").is_null())
    assert len(ran) == len(originals)
    trainings = Counter(
        (*place, json.loads(settings)["stop_epoch"])
        for *place, settings in originals.filter(pl.col("stage") == "final")
        .select("config_hash", "seed", "split_hash", "settings")
        .iter_rows()
    )
    assert set(trainings.values()) == {1}
    copies = trials.filter(pl.col("same_as").is_not_null())
    assert set(copies["stage"]) == {"final"}
    assert set(copies["train_on"]) == {"part", "all"}
    assert set(copies["same_as"]) <= set(originals["trial_id"])
    assert set(copies["attempts"]) == set(copies["test_readings"]) == {0}


def test_a_copy_has_every_number_of_its_original(undisturbed):
    storage, _ = undisturbed
    identity = [name for name, _ in IDENTITY_COLUMNS]
    shared = ("split_protocol", "train_on", "seed", "seed_index", "fold", "num_folds")
    shared += (
        "split_hash",
        "test_hash",
        "protocol_hash",
        "config_hash",
        "loss",
        "block",
        "weights",
    )
    own = [name for name in identity if name not in shared] + ["attempts", "test_readings"]
    files = sorted((storage / CROSSED.name).rglob("*.parquet"))
    whole = pl.read_parquet(files).unique("trial_id")
    originals = {row["trial_id"]: row for row in whole.to_dicts()}
    copies = whole.filter(pl.col("same_as").is_not_null()).to_dicts()
    assert len(copies) > 10
    for copy in copies:
        original = originals[copy["same_as"]]
        assert original["search"] != copy["search"]
        assert original["repeat"] == copy["repeat"]
        for name, value in copy.items():
            if name not in own:
                assert value == original[name], name
        assert copy["test_scores"]


def test_who_trains_a_shared_final_does_not_depend_on_who_was_faster(small, tmp_path):
    dice = random.Random(0)
    executor = ScriptedExecutor(
        capacity=Capacity(cpus=3.0, gpus=0.0),
        trial=PlantedTrial(hashed),
        begins=lambda job: dice.random() < 0.3,
    )
    assert not run_here(SMALL, tmp_path, executor).interrupted
    assert_frame_equal(tables(tmp_path, SMALL), tables(small, SMALL))


def test_a_driver_killed_between_an_original_and_its_copies_continues_in_the_same_tables(
    small, tmp_path, monkeypatch
):
    commits = iter(range(1, 10**6))
    commit_trial = commit_trials.commit_trial

    def deadly(*arguments):
        if next(commits) == 3:
            raise Killed
        return commit_trial(*arguments)

    monkeypatch.setattr(commit_trials, "commit_trial", deadly)
    with pytest.raises(Killed):
        run_planted(SMALL, tmp_path)
    monkeypatch.undo()
    before = finals_of(tmp_path, SMALL)
    assert len(before) < len(finals_of(small, SMALL))
    run_planted(SMALL, tmp_path)
    assert_frame_equal(tables(tmp_path, SMALL), tables(small, SMALL))


def test_an_asynchronous_study_interrupted_again_and_again_has_each_final_once(tmp_path, small):
    study = replace(SMALL, search=replace(SMALL.search, order="asynchronous"))
    for _ in range(200):
        if not run_here(study, tmp_path, InterruptedAfter(9, PlantedTrial(hashed))).interrupted:
            break
    check_store(StudyPaths(tmp_path / study.name))
    keys = ["search", "is_winner", "is_default", "train_on", "seed_index", "fold", "objective"]
    found, expected = (
        finals_of(storage, SMALL).select(keys).sort(keys) for storage in (tmp_path, small)
    )
    assert_frame_equal(found, expected)


def test_copies_are_no_part_of_a_budget_of_trials(small, tmp_path, monkeypatch):
    trials = rows(small, SMALL)
    trained, copied = trials["same_as"].null_count(), trials["same_as"].count()
    assert copied

    def kill(paths):
        raise Killed

    monkeypatch.setattr("podium.orchestrator.run.run_study.gather_all", kill)
    with pytest.raises(Killed):
        run_planted(SMALL, tmp_path)
    monkeypatch.undo()
    gone = trials.filter(pl.col("same_as").is_not_null())["trial_id"][0]
    (file,) = (tmp_path / SMALL.name / "trials").rglob(f"{gone}.parquet")
    file.unlink()
    # All is trained that was to be: only a copy is missing.
    study = replace(SMALL, budget=BudgetSettings(trials=trained))
    end = run_here(study, tmp_path, InterruptedAfter(0))
    assert end.out_of_budget is None
    assert [(use.used, use.limit) for use in end.progress.budget] == [(trained, trained)]
    assert_frame_equal(tables(tmp_path, SMALL), tables(small, SMALL))
    (use,) = FollowedStudy(tmp_path / SMALL.name).view().progress.budget
    assert (use.used, use.limit) == (trained, trained)
