"""Searches whose trials are stopped early by each of the kinds, with simulated training."""

from dataclasses import replace

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from podium.orchestrator.results.records.journal import read_asks
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.run.resume_study import search_outcomes
from podium.orchestrator.scheduling.early_stopping import rung_steps
from podium.orchestrator.study.resource_demand import Capacity
from podium.orchestrator.study.study import EarlyStopping, FinalSettings, StudyLoss
from podium.trainables.settings.trial_settings import ProtocolSettings
from tests.orchestrator import simulated
from tests.orchestrator.results.store_frames import decisions
from tests.orchestrator.scripted import ScriptedExecutor, lost
from tests.orchestrator.slow_race import slow_verdict
from tests.orchestrator.small_study import STUDY, InterruptedAfter, rows, run_here, tables

EPOCHS, LAG = 4, 2
RULE = EarlyStopping(kind="asha", reduction_factor=2)
NONE = EarlyStopping(kind="none")
RACES = [(RULE, 1), (RULE, 3), (EarlyStopping(kind="folds", reduction_factor=2), 3)]
every_race = pytest.mark.parametrize(("rules", "folds"), RACES)


def study_of(rules, folds, order="deterministic"):
    one = ProtocolSettings(kind="fixed", val_fraction=0.25)
    several = ProtocolSettings(kind="kfold", val_fraction=None, folds=folds)
    return replace(
        STUDY,
        embedding_dims=(8,),
        losses=(StudyLoss("proxy_anchor"),),
        protocols=(several if folds > 1 else one,),
        final=FinalSettings(seeds=1, protocol=one),
        search=replace(
            STUDY.search,
            sampler="random",
            trials=14,
            early_stopping=rules,
            lag=LAG,
            order=order,
        ),
    )


def searched(storage):
    return rows(storage).filter(pl.col("stage") == "search").sort("index")


def paths_of(storage):
    """Suggestion -> (step, score) after each of its epochs."""
    reader = Reader(storage / STUDY.name)
    (asks,) = read_asks(StudyPaths(storage / STUDY.name)).values()
    (outcomes,) = search_outcomes(decisions(reader), 1, reader.objective).values()
    return {ask.index: outcomes[ask.trial_id].path for ask in asks}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A function of rules and folds; each study runs once."""
    known = {}

    def run(*key):
        if key not in known:
            known[key] = tmp_path_factory.mktemp("study")
            assert not run_here(study_of(*key), known[key]).interrupted
        return known[key]

    return run


@every_race
def test_a_raced_search_is_the_full_one_cut_where_the_rules_say(undisturbed, rules, folds):
    """A random sampler does not look at outcomes, so both try the same configs."""
    full = paths_of(undisturbed(NONE, folds))
    heard, expected = [], []
    for index, path in sorted(full.items()):
        before = [event for event in heard if event[0] <= index - LAG]
        for step, score in path:
            before.append((index, step, score))
            if not slow_verdict(rules, EPOCHS, folds, before, index, step):
                break
        heard += [event for event in before if event[0] == index]
        expected.append((index, before[-1][1]))
    raced = searched(undisturbed(rules, folds))
    assert raced.select("index", "epochs_run").rows() == expected
    ended = raced["epochs_run"] == EPOCHS * folds
    assert ((raced["state"] == "COMPLETE") == ended).all()
    assert 1 < ended.sum() < len(raced)


@every_race
def test_a_stopped_trial_knows_its_rung(undisturbed, rules, folds):
    steps = rung_steps(rules, epochs=EPOCHS, folds=folds)
    for row in searched(undisturbed(rules, folds)).iter_rows(named=True):
        expected = steps.index(row["epochs_run"]) if row["state"] == "PRUNED" else None
        assert row["rung"] == expected


@pytest.mark.parametrize(("rules", "folds"), RACES[1:])
def test_a_search_interrupted_again_and_again_ends_in_the_same_tables(
    undisturbed, tmp_path, rules, folds
):
    study = study_of(rules, folds)
    interruptions = 0
    # A trial that goes on reports its past again: fewer steps than it has would never end it.
    while run_here(study, tmp_path, InterruptedAfter(EPOCHS * folds + 5)).interrupted:
        interruptions += 1
    assert interruptions > 1
    assert_frame_equal(tables(tmp_path), tables(undisturbed(rules, folds)))


def test_an_asynchronous_search_in_one_slot_ends_as_one_that_was_not_interrupted(tmp_path):
    """Trials come one after the other here, so all before a trial have ended when it starts."""
    study = study_of(RULE, 3, "asynchronous")
    run_here(study, tmp_path / "one")
    while run_here(study, tmp_path / "two", InterruptedAfter(30)).interrupted:
        pass
    assert_frame_equal(tables(tmp_path / "two"), tables(tmp_path / "one"))


def test_a_trial_that_is_retried_is_not_judged_again_where_it_had_passed(tmp_path, monkeypatch):
    """While it waits for a place, others do better: at its first rung it would be out now."""
    seen = []

    def ever_better(settings, fold):
        config = dict(settings.hyperparameters)
        if config not in seen:
            seen.append(config)
        return 0.5 + 0.01 * seen.index(config)

    monkeypatch.setattr(simulated, "_ceiling", ever_better)

    def fate(job, step):
        is_second = job.trial_id == executor.jobs[1].trial_id
        return lost("preempted") if is_second and job.attempt == 1 and step == 3 else None

    def begins(job):
        return job.attempt == 1 or len(executor.jobs) > 9

    executor = ScriptedExecutor(fate, Capacity(cpus=2.0, gpus=0.0), begins=begins)
    run_here(study_of(RULE, 1, "asynchronous"), tmp_path, executor)
    second = searched(tmp_path).row(1, named=True)
    assert second["trial_id"] == executor.jobs[1].trial_id
    assert (second["state"], second["attempts"], second["epochs_run"]) == ("COMPLETE", 2, EPOCHS)
