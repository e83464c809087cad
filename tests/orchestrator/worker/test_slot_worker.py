"""A worker slot that trains a population: messages, attempts, and what becomes of failures."""

from dataclasses import replace

import pytest
import torch

from podium.orchestrator.study.resource_demand import Demand
from podium.orchestrator.trials.specification import TrialJob
from podium.orchestrator.worker.slot_worker import SlotWorker
from podium.trainables.errors import DataError, TrialInputError
from podium.trainables.population import run_population
from podium.trainables.settings.population_agreement import agreement
from podium.trainables.trial.run_trial import run_trial
from podium.trainables.trial_reports import EpochReport
from tests.orchestrator.results.store_rows import new_store
from tests.trainables.trial.test_frozen_features import frozen_trial

BETAS = {"a": 20.0, "b": 40.0, "c": 60.0, "d": 80.0}


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def jobs(tmp_path, cache):
    base = frozen_trial(cache, loss="multi_similarity", evaluate_test=False)
    paths = new_store(tmp_path)
    return [
        TrialJob(
            trial_id=name,
            search="s0",
            attempt=1,
            paths=paths,
            settings=replace(base, hyperparameters={"beta": beta}),
            demand=Demand(cpus=1.0, gpus=0.0).part(4),
            population=agreement(base),
        )
        for name, beta in BETAS.items()
    ]


@pytest.fixture
def worker():
    return SlotWorker()


def said_by(worker, drop=lambda said: ()):
    """All messages of each trial until none is left."""
    said = {}
    while worker.trials:
        for trial_id, messages in worker.step().items():
            said.setdefault(trial_id, []).extend(messages)
        for trial_id in drop(said):
            worker.drop(trial_id)
    return said


def epochs_of(messages):
    return [(it.fold, it.epoch) for it in messages if isinstance(it, EpochReport)]


def test_every_member_reports_its_epochs_and_that_it_is_complete(worker, jobs):
    worker.start(jobs)
    for trial_id, messages in said_by(worker).items():
        (job,) = [job for job in jobs if job.trial_id == trial_id]
        alone = list(run_trial(job.settings))
        assert messages[-1].state == "COMPLETE"
        assert epochs_of(messages) == [(0, 1), (0, 2)]
        reports = [it for it in messages if isinstance(it, EpochReport)]
        for report, wanted in zip(reports, alone, strict=True):
            assert report.recall(1) == pytest.approx(wanted.recall(1), abs=0.03)
        attempt = messages[-1].attempt
        assert (attempt.cause, attempt.reports, attempt.cpus) == ("complete", 2, 0.25)


def test_epochs_are_told_together_up_to_a_rung(jobs):
    worker = SlotWorker(gathers=True)
    training = replace(jobs[0].settings.training, epochs=5)
    worker.start(
        [
            replace(
                job,
                settings=replace(job.settings, training=training),
                rungs=frozenset({2}),
                gather_seconds=60.0,
            )
            for job in jobs
        ]
    )
    assert {len(epochs_of(messages)) for messages in worker.step().values()} == {2}
    worker.drop("b")
    last = worker.step()
    assert {trial_id: epochs_of(messages) for trial_id, messages in last.items()} == {
        trial_id: [(0, 3), (0, 4), (0, 5)] for trial_id in "acd"
    }
    assert not worker.trials


def test_a_member_that_diverges_fails_alone(worker, jobs):
    fast = {"learning_rate": 1.0, "head_learning_rate_factor": 1e4, "weight_decay": 1.0}
    many = [
        replace(
            job,
            settings=replace(
                job.settings,
                training=replace(job.settings.training, optimiser="sgd", epochs=8),
                hyperparameters=fast if job.trial_id == "c" else {},
            ),
        )
        for job in jobs
    ]
    worker.start(many)
    ends = {trial_id: messages[-1] for trial_id, messages in said_by(worker).items()}
    assert {trial_id: end.state for trial_id, end in ends.items()} == {
        "a": "COMPLETE",
        "b": "COMPLETE",
        "c": "FAILED",
        "d": "COMPLETE",
    }
    assert ends["c"].cause == "diverged"
    assert "(fold 0, epoch" in ends["c"].message


def test_a_member_alone_that_finds_no_memory_fails(worker, jobs, monkeypatch):
    def full(population):
        raise torch.OutOfMemoryError("out of memory. Tried to allocate 2 GiB")

    monkeypatch.setattr(run_population.Population, "step", full)
    worker.start(jobs)
    ends = [messages[-1] for messages in said_by(worker).values()]
    assert [end.cause for end in ends] == ["out_of_memory"] * 4


def test_an_error_of_the_population_fails_every_member(worker, jobs, monkeypatch):
    def unreadable(population):
        raise DataError("features.npy cannot be read")

    monkeypatch.setattr(run_population.Population, "step", unreadable)
    worker.start(jobs)
    for messages in said_by(worker).values():
        assert (messages[-1].state, messages[-1].cause) == ("FAILED", "data")
        assert "features.npy" in messages[-1].message


def is_odd(trial, odd):
    return trial.hyperparameters["beta"] == BETAS[odd]


@pytest.mark.parametrize("odd", ["a", "c"])
def test_an_error_that_only_one_member_meets_is_its_own(worker, jobs, monkeypatch, odd):
    """As where what a config asks for is impossible, which shows when its loss is made."""
    set_up = run_population.set_up

    def choosy(settings):
        if is_odd(settings, odd):
            raise TrialInputError("beta is unusable")
        return set_up(settings)

    monkeypatch.setattr(run_population, "set_up", choosy)
    worker.start(jobs)
    sizes = {}
    for trial_id, messages in said_by(worker).items():
        sizes[trial_id] = messages[-1].attempt.members
        if trial_id == odd:
            (end,) = messages
            assert (end.state, end.cause, end.message) == ("FAILED", "input", "beta is unusable")
        else:
            assert epochs_of(messages) == [(0, 1), (0, 2)]
            assert messages[-1].state == "COMPLETE"
    assert sizes.pop(odd) == 1
    assert sorted(sizes.values()) == [1, 2, 2]


def test_who_waits_for_the_other_half_is_heard_of_after_every_epoch(worker, jobs, monkeypatch):
    step = run_population.Population.step

    def of_small_memory(population):
        if len(population.members) > 2:
            raise MemoryError("no memory")
        return step(population)

    monkeypatch.setattr(run_population.Population, "step", of_small_memory)
    worker.start(jobs)
    said = []
    while worker.trials:
        before = set(worker.trials)
        said.append(worker.step())
        assert set(said[-1]) == before
    for trial_id in BETAS:
        messages = [it for now in said for it in now.get(trial_id, ())]
        assert epochs_of(messages) == [(0, 1), (0, 2)]
        assert messages[-1].state == "COMPLETE"
    assert [sorted(name for name, it in now.items() if it) for now in said] == [
        [],
        *[["a", "b"]] * 2,
        *[["c", "d"]] * 2,
    ]
