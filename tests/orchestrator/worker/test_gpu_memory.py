"""A GPU whose memory runs out, for real: what the worker makes of it, and who is spared."""

import gc

import pytest
import torch

from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.study.resource_demand import CONTEXT_MB, Demand
from podium.orchestrator.trials.specification import TrialJob
from podium.orchestrator.trials.worker_messages import Ended
from podium.trainables.settings.training_settings import TrainingSettings
from podium.trainables.settings.trial_settings import (
    BackboneSettings,
    DatasetSettings,
    ProtocolSettings,
    TrialSettings,
)
from tests.orchestrator.trial_worker import TrialWorker

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]
ROOM_MB = 1024  # for the tensors of a trial that needs more


@pytest.fixture
def paths(tmp_path):
    folder = tmp_path / "study"
    folder.mkdir()
    found = StudyPaths(folder)
    found.store.write_text("{}")
    return found


def job(paths, tmp_path, number, gpus):
    options = {"classes": 120, "instances_per_class": 12, "size": 112}
    settings = TrialSettings(
        dataset=DatasetSettings(name="glyphs", options=options),
        backbone=BackboneSettings(name="resnet50"),
        embedding_dim=16,
        loss="contrastive",
        hyperparameters={},
        folds=(0,),
        protocol=ProtocolSettings(kind="fixed", val_fraction=0.3),
        training=TrainingSettings(epochs=1, batch_size=128),
        seed=1,
        cache_folder=str(tmp_path / "cache"),
    )
    return TrialJob(
        trial_id="t0",
        search="s0",
        attempt=number,
        paths=paths,
        settings=settings,
        demand=Demand(cpus=1.0, gpus=gpus),
    )


def last_word(worker, given):
    worker.start(given)
    while not isinstance((said := worker.step())[-1], Ended):
        pass
    return said[-1]


def test_memory_that_runs_out_is_told_given_back_and_enough_for_the_trial_alone(paths, tmp_path):
    total_mb = torch.cuda.get_device_properties(0).total_memory / 2**20
    worker = TrialWorker()
    gc.collect()
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    try:
        crowded = last_word(worker, job(paths, tmp_path, 1, (ROOM_MB + CONTEXT_MB) / total_mb))
        assert (crowded.state, crowded.cause) == ("FAILED", "out_of_memory"), crowded.traceback
        assert crowded.recycle
        assert ROOM_MB / 2 < crowded.peak_memory_mb <= ROOM_MB + 1
        assert crowded.device_memory_mb == pytest.approx(total_mb)
        assert torch.cuda.memory_allocated() == before
        told = crowded.attempt
        assert (told.cause, told.peak_memory_mb) == ("out_of_memory", crowded.peak_memory_mb)
        assert told.device != "cpu"
        alone = last_word(worker, job(paths, tmp_path, 2, 1.0))
        assert (alone.state, alone.cause) == ("COMPLETE", None), alone.traceback
        assert alone.attempt.device_memory_mb == pytest.approx(total_mb)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
