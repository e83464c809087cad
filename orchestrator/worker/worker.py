"""Runs one trial at a time, step by step, and never raises: failures become messages."""

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeAlias

from podium.orchestrator.ids_and_seeds import NUMERICS_VERSION
from podium.orchestrator.redaction import redacted
from podium.orchestrator.results.storage.files import put, read_bytes, remove
from podium.orchestrator.trials.failure_causes import OUT_OF_HOST_MEMORY, OUT_OF_MEMORY
from podium.orchestrator.trials.provenance import version
from podium.orchestrator.trials.specification import TrialJob
from podium.orchestrator.trials.worker_messages import Ended, Message
from podium.orchestrator.worker.process_memory import clear_frames, limit_memory, release_memory
from podium.orchestrator.worker.worker_attempt import CheckpointSaver, WorkerAttempt, captured
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


class TrialWorker:
    """One trial slot. `start` a job, then `step` until an `Ended` comes or it is pruned.

    Args:
        trial: runs a trial.
        gathers: whether epochs between two rungs are gathered as long as the job says before they
            are reported, or each is.
    """

    def __init__(self, trial: TrialFunction = train, gathers: bool = False) -> None:
        self._trial = trial
        self._gathers = gathers
        self._attempt: WorkerAttempt | None = None

    @property
    def is_over(self) -> bool:
        """Whether there is no job."""
        return self._attempt is None

    def start(self, job: TrialJob) -> None:
        """Take on a job, which resumes from its checkpoint if there is one."""
        self.stop()
        self._attempt = WorkerAttempt(job)
        self._reports = _reports(self._attempt, self._trial)

    def step(self) -> list[Message]:
        """Run until the scheduler has to decide; returns the messages until then."""
        attempt = self._attempt
        assert attempt is not None, "start comes before step"
        messages: list[Message] = []
        due_from = time.monotonic() + (attempt.job.gather_seconds if self._gathers else 0.0)
        try:
            with captured(attempt.log):
                for report in self._reports:
                    messages += attempt.take(report)
                    is_due = attempt.job.is_at_rung(report) or time.monotonic() >= due_from
                    if is_due and not attempt.job.is_at_end(report):
                        return messages
            ended = attempt.complete()
        except Exception as error:  # the one place where a failure becomes a result
            ended = attempt.failed(error)
            clear_frames(error)
        self._end(ended)
        return [*messages, ended]

    def stop(self) -> None:
        """End the current job, if there is one; its attempt ends as "stopped"."""
        if self._attempt is not None:
            self._end(None)

    def _end(self, ended: Ended | None) -> None:
        assert self._attempt is not None, "there is a job"
        self._attempt.end(ended)
        self._attempt = None
        self._reports = iter(())
        # After anything else the device may be faulty: using it would raise, and lose the message.
        if ended is not None and ended.cause in (OUT_OF_MEMORY, OUT_OF_HOST_MEMORY):
            release_memory()


def _reports(attempt: WorkerAttempt, trial: TrialFunction) -> Iterator[Report]:
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
