"""The reports of an attempt at a trial alone, with its checkpoint and what it keeps."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeAlias

from podium.orchestrator.ids_and_seeds import NUMERICS_VERSION
from podium.orchestrator.redaction import redacted
from podium.orchestrator.results.storage.files import put, read_bytes, remove
from podium.orchestrator.trials.provenance import version
from podium.orchestrator.trials.specification import TrialJob
from podium.orchestrator.worker.process_memory import limit_memory
from podium.orchestrator.worker.worker_attempt import CheckpointSaver, WorkerAttempt
from podium.trainables.errors import CheckpointError
from podium.trainables.settings.trial_settings import TrialSettings
from podium.trainables.trial_reports import Report

if TYPE_CHECKING:
    from podium.trainables.trial.fold_artifacts import FoldArtifacts

Keep: TypeAlias = "Callable[[FoldArtifacts], None] | None"


class TrialFunction(Protocol):
    """What runs a trial: `trainables.trial.run_trial.run_trial`, or something of its shape."""

    def __call__(
        self, settings: TrialSettings, *, resume: bytes | None, save: CheckpointSaver, keep: Keep
    ) -> Iterator[Report]:
        """Yield the reports of the trial, saving its state before each for which that is due.

        After each test ``keep``, unless it is None, gets the model and embeddings of the fold.
        """


def train(
    settings: TrialSettings, *, resume: bytes | None, save: CheckpointSaver, keep: Keep
) -> Iterator[Report]:
    """Run a real trial. Torch is loaded by the first one, not with this module."""
    from podium.trainables.trial.run_trial import run_trial

    return run_trial(settings, resume=resume, save=save, is_save_due=save.is_due, keep=keep)


def reports_of(attempt: WorkerAttempt, trial: TrialFunction) -> Iterator[Report]:
    """The reports of one attempt, from its checkpoint on, or from scratch if that is damaged."""
    job = attempt.job
    attempt.begin()
    if trial is train:
        limit_memory(job.demand.whole.gpus)
    start = partial(trial, job.settings, save=attempt.save, keep=_artifact_saver(job))
    # An attempt is written before its first checkpoint: where there is one, this is not the first.
    is_first, checkpoint = job.attempt == 1, job.paths.checkpoint(job.trial_id)
    try:
        yield from start(resume=None if is_first else read_bytes(checkpoint))
    except CheckpointError as error:
        remove(checkpoint)
        attempt.note = redacted(f"it started from scratch, its checkpoint was deleted: {error}")
        logging.getLogger(__name__).warning(attempt.note)
        yield from start(resume=None)


def _artifact_saver(job: TrialJob) -> Keep:
    """What `run_trial` is to call after each test; None if the job keeps nothing."""
    if not job.keeps_model and not job.keeps_embeddings:
        return None

    # No times or machines, so that a rerun leaves the same bytes.
    origin: dict[str, str | int] = {
        "trial_id": job.trial_id,
        "podium_version": version("podium"),
        "torch_version": version("torch"),
        "numerics_version": NUMERICS_VERSION,
    }

    def keep(artifacts: "FoldArtifacts") -> None:
        if job.keeps_model:
            model = replace(artifacts.model, origin=origin)
            put(job.paths.model(job.trial_id, model.fold), model.to_bytes())
        if job.keeps_embeddings:
            embeddings = replace(artifacts.embeddings, origin=origin)
            put(job.paths.test_embeddings(job.trial_id, embeddings.fold), embeddings.to_bytes())

    return keep
