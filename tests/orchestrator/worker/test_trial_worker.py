"""The worker's side: what it writes of its attempts, and what it makes of damage around it."""

import gc
import platform
import weakref
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from podium.errors import StoreError
from podium.orchestrator.results.records.journal_records import Attempt
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.files import put, read_bytes
from podium.orchestrator.study.resource_demand import CONTEXT_MB, Demand
from podium.orchestrator.trials.specification import TrialJob
from podium.orchestrator.trials.worker_messages import Ended, Saved
from podium.orchestrator.worker.process_memory import devices, limit_memory
from podium.trainables.errors import CheckpointError
from podium.trainables.settings.training_settings import TrainingSettings
from podium.trainables.settings.trial_settings import (
    BackboneSettings,
    DatasetSettings,
    ProtocolSettings,
    TrialSettings,
)
from podium.trainables.trial_reports import EpochReport, TestReport
from tests.orchestrator.results.store_rows import new_store
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.trial_worker import TrialWorker

SETTINGS = TrialSettings(
    dataset=DatasetSettings(name="glyphs"),
    backbone=BackboneSettings(name="conv_small"),
    embedding_dim=8,
    loss="contrastive",
    hyperparameters={},
    folds=(0,),
    protocol=ProtocolSettings(kind="fixed", val_fraction=0.25),
    training=TrainingSettings(epochs=3),
    seed=1,
)


@pytest.fixture
def paths(tmp_path) -> StudyPaths:
    return new_store(tmp_path)


def job_in(paths, attempt=1, **changes) -> TrialJob:
    return TrialJob(
        trial_id="t0",
        search="s0",
        attempt=attempt,
        paths=paths,
        settings=replace(SETTINGS, **changes),
        demand=Demand(cpus=2.0, gpus=0.25),
    )


def run(worker, job):
    """All that it says."""
    worker.start(job)
    said = []
    while not said or not isinstance(said[-1], Ended):
        said += worker.step()
    return said


def reports_in(messages):
    return [it for it in messages if isinstance(it, EpochReport | TestReport)]


def checked(settings, *, resume, save, keep=None):
    """As the simulated trial, with the check that the real one makes of its checkpoint."""
    if resume is not None and not resume.startswith(b"{"):
        raise CheckpointError("the checkpoint of 3 bytes is damaged or cut off")
    yield from simulated_trial(settings, resume=resume, save=save)


def test_an_attempt_says_where_it_ran_what_it_occupied_and_how_far_it_came(paths):
    (attempt, *_, ended) = run(TrialWorker(simulated_trial), job_in(paths))
    assert (attempt.node, attempt.cpus, attempt.gpus) == (platform.node(), 2.0, 0.25)
    assert (attempt.cause, attempt.reports, attempt.ended_at) == (None, None, None)
    whole = ended.attempt
    assert (whole.node, whole.cause, whole.reports) == (platform.node(), "complete", 3)
    assert whole.seconds >= 0


def test_that_an_attempt_began_and_may_have_saved_is_told_once(paths):
    worker = TrialWorker(simulated_trial)
    worker.start(job_in(paths))
    first, second, last = (worker.step() for _ in range(3))
    assert [type(it) for it in first] == [Attempt, Saved, EpochReport]
    assert [type(it) for it in second] == [EpochReport]
    assert [type(it) for it in last] == [EpochReport, Ended]


def test_epochs_are_told_together_up_to_a_rung(paths):
    told_at_once = run(TrialWorker(simulated_trial), job_in(paths, folds=(4, 2)))
    together = TrialWorker(simulated_trial, gathers=True)
    job = replace(job_in(paths, folds=(4, 2)), rungs=frozenset({2, 3}), gather_seconds=60.0)
    together.start(job)
    steps = [together.step() for _ in range(3)]
    assert [len(reports_in(step)) for step in steps] == [2, 1, 3]
    assert reports_in(message for step in steps for message in step) == reports_in(told_at_once)
    assert not together.trials


@pytest.mark.parametrize("damaged", [b"", b"\x00\x00\x00"])
def test_a_damaged_checkpoint_is_deleted_and_told_and_the_trial_starts_from_scratch(
    paths, damaged
):
    worker = TrialWorker(checked)
    undamaged = run(worker, job_in(paths))
    put(paths.checkpoint("t0"), damaged)
    again = run(worker, job_in(paths, attempt=2))
    assert reports_in(again) == reports_in(undamaged)
    assert again[-1].state == "COMPLETE"
    assert "its checkpoint was deleted: the checkpoint of 3 bytes is damaged" in again[-1].log
    assert "was deleted" in again[-1].attempt.message
    assert read_bytes(paths.checkpoint("t0")) != damaged


def test_a_node_that_does_not_see_the_study_says_so_and_writes_nothing(tmp_path):
    elsewhere = StudyPaths(tmp_path / "not-shared" / "study")
    (ended,) = run(TrialWorker(simulated_trial), job_in(elsewhere))
    assert ended.cause == "store"
    assert ended.message == (
        f"node {platform.node()} does not see {elsewhere.folder}: storage must be one folder that"
        " every node sees"
    )
    assert not (tmp_path / "not-shared").exists()


@pytest.mark.parametrize(
    "error", [OSError(5, "Input/output error"), StoreError("cannot write it: no space is left")]
)
def test_files_that_fail_are_reported_with_the_node_on_which_they_do(paths, error):
    def trial(settings, *, resume, save, keep):
        yield from simulated_trial(settings, resume=resume, save=save)
        raise error

    *_, ended = run(TrialWorker(trial), job_in(paths))
    assert ended.message == f"{error} (on the node {platform.node()})"


class OutOfMemoryError(RuntimeError):
    """As torch names it."""


class Tensor:
    """What a trial holds on a device."""


@pytest.mark.parametrize(
    ("error", "cause", "recycles"),
    [
        (OutOfMemoryError("CUDA out of memory"), "out_of_memory", True),
        (MemoryError("too much"), "out_of_host_memory", True),
        (RuntimeError("CUDA error: device-side assert triggered"), "device", True),
        (RuntimeError("shapes differ"), "error", True),
        (OSError(5, "Input/output error"), "data", False),
    ],
)
def test_a_process_in_which_something_may_stay_is_not_used_again(paths, error, cause, recycles):
    def trial(settings, *, resume, save, keep):
        yield from simulated_trial(settings, resume=resume, save=save)
        raise error

    *_, ended = run(TrialWorker(trial), job_in(paths))
    assert (ended.cause, ended.recycle) == (cause, recycles)
    attempt = ended.attempt
    assert (attempt.cause, attempt.reports) == (cause, 3)
    assert (attempt.peak_memory_mb or 0.0) == (ended.peak_memory_mb or 0.0)
    assert (ended.peak_memory_mb is not None) == ("memory" in cause)


@pytest.mark.parametrize(
    ("error", "cause", "asks"),
    [
        (RuntimeError("CUDA error: an illegal memory access"), "device", 0),
        (RuntimeError("shapes differ"), "error", 0),
        (OutOfMemoryError("CUDA out of memory"), "out_of_memory", 1),
    ],
)
def test_a_device_that_may_be_ill_is_asked_for_nothing_after_the_trials_last_word(
    paths, monkeypatch, error, cause, asks
):
    """Once CUDA has failed, all that asks it for anything raises."""
    asked = []

    def empty_cache():
        asked.append(cause)
        if cause == "device":
            raise RuntimeError("CUDA error: an illegal memory access")

    def trial(settings, *, resume, save, keep):
        yield from simulated_trial(settings, resume=resume, save=save)
        raise error

    monkeypatch.setattr(torch.cuda, "empty_cache", empty_cache)
    *_, ended = run(TrialWorker(trial), job_in(paths))
    assert (ended.cause, len(asked)) == (cause, asks)


def test_nothing_of_a_failed_trial_stays_in_memory(paths):
    """An error holds its frames, and these hold the tensors that filled the device."""
    held = []

    def trial(settings, *, resume, save, keep):
        tensor = Tensor()
        held.append(weakref.ref(tensor))
        yield from simulated_trial(settings, resume=resume, save=save)
        raise OutOfMemoryError("CUDA out of memory")

    worker = TrialWorker(trial)
    gc.disable()
    try:
        run(worker, job_in(paths))
        assert held[0]() is None
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("gpus", "share"), [(0.25, 0.24), (1.0, 1.0), (2.0, 1.0), (0.02, 0.01), (0.012, 0.006)]
)
def test_a_part_of_a_gpu_is_a_part_of_its_memory_less_what_cuda_takes(monkeypatch, gpus, share):
    limits = []

    def limit(fraction, device=None):
        torch.cuda._utils._get_device_index(0 if device is None else device)  # refuses "cuda"
        limits.append(fraction)

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(
        torch.cuda,
        "get_device_properties",
        lambda device: SimpleNamespace(total_memory=100 * CONTEXT_MB * 2**20),
    )
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", limit)
    limit_memory(gpus)
    assert limits == [pytest.approx(share)]


@pytest.mark.parametrize(
    ("told", "found"), [("2", "2"), ("", "cpu"), (None, "0,1"), ("GPU-7", "GPU-7")]
)
def test_a_try_names_the_gpus_it_sees_whoever_chose_them(monkeypatch, told, found):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    if told is None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    else:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", told)
    assert devices() == found
