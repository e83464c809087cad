"""How often a trial saves its state."""

from dataclasses import replace

import pytest

from podium.orchestrator.results.storage.files import put, read_bytes
from podium.orchestrator.worker.worker import train
from podium.orchestrator.worker.worker_attempt import CheckpointSaver
from podium.trainables.settings.trial_settings import DatasetSettings
from tests.orchestrator.results.store_rows import new_store
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.trial_worker import TrialWorker
from tests.orchestrator.worker.test_trial_worker import job_in, run

FEW = DatasetSettings(name="glyphs", options={"classes": 24, "instances_per_class": 4})


@pytest.fixture
def paths(tmp_path):
    return new_store(tmp_path)


def test_a_state_is_due_at_once_where_every_epoch_is_saved(paths):
    assert CheckpointSaver(job_in(paths)).is_due()


def test_a_state_is_due_once_the_start_or_the_last_one_is_long_enough_ago(paths, monkeypatch):
    now = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    save = CheckpointSaver(replace(job_in(paths), checkpoint_minutes=5.0))
    now += 299.0
    assert not save.is_due()
    now += 1.0
    assert save.is_due()
    save(b"state")
    assert read_bytes(paths.checkpoint("t0")) == b"state"
    assert not save.is_due()
    now += 300.0
    assert save.is_due()


@pytest.mark.parametrize(("minutes", "is_saved"), [(0.0, True), (60.0, False)])
def test_a_trial_saves_its_state_only_when_that_is_due(paths, minutes, is_saved):
    job = replace(job_in(paths, dataset=FEW), checkpoint_minutes=minutes)
    *_, ended = run(TrialWorker(train), job)
    assert ended.state == "COMPLETE"
    assert (read_bytes(paths.checkpoint("t0")) is not None) == is_saved
    assert ended.has_saved == is_saved


def test_a_first_attempt_looks_for_no_checkpoint_and_a_later_one_resumes_from_it(paths):
    resumed = []

    def trial(settings, *, resume, save, keep):
        resumed.append(resume)
        yield from simulated_trial(settings, resume=None, save=save)

    put(paths.checkpoint("t0"), b"of whom?")
    run(TrialWorker(trial), job_in(paths))
    saved = read_bytes(paths.checkpoint("t0"))
    run(TrialWorker(trial), job_in(paths, attempt=2))
    assert resumed == [None, saved]


def test_a_later_attempt_may_have_left_a_checkpoint_of_an_earlier_one(paths):
    *_, ended = run(
        TrialWorker(train), replace(job_in(paths, 2, dataset=FEW), checkpoint_minutes=60.0)
    )
    assert ended.has_saved
