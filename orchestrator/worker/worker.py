"""Runs one trial at a time, step by step, and never raises: failures become messages."""

import contextlib
import logging
import os
import platform
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib import metadata
from typing import TYPE_CHECKING, Protocol, TypeAlias

from orchestrator.ids_and_seeds import NUMERICS_VERSION
from orchestrator.redaction import redacted
from orchestrator.results.records import checkpoint_files
from orchestrator.results.records.artifact_files import save_embeddings, save_model
from orchestrator.results.records.attempts import Attempt, read_attempt, write_attempt
from orchestrator.results.records.results_folder import is_present
from orchestrator.study.foreign_code import changed_code
from orchestrator.trials.failure_causes import (
    DATA,
    DEVICE,
    ERROR,
    INPUT,
    OUT_OF_HOST_MEMORY,
    OUT_OF_MEMORY,
    STORE,
    cause_of,
)
from orchestrator.trials.specification import TrialJob
from orchestrator.trials.worker_messages import Ended, Message
from orchestrator.worker.process_memory import (
    clear_frames,
    device_memory,
    devices,
    limit_memory,
    memory_at,
    release_memory,
)
from orchestrator.worker.trial_log import TrialLog
from podium.errors import CorruptFileError, StoreError
from trainables.errors import CheckpointError, DataError, TrialInputError
from trainables.importable_code import failure_text
from trainables.loss_files import keep_files
from trainables.settings.trial_settings import TrialSettings
from trainables.trial_reports import EpochReport, TestReport

if TYPE_CHECKING:
    from trainables.trial.fold_artifacts import FoldArtifacts

Keep: TypeAlias = "Callable[[FoldArtifacts], None] | None"
Report: TypeAlias = EpochReport | TestReport


class TrialFunction(Protocol):
    """What runs a trial: `trainables.trial.run_trial.run_trial`, or something of its shape."""

    def __call__(
        self,
        settings: TrialSettings,
        *,
        resume: bytes | None,
        save: Callable[[bytes], None],
        keep: Keep,
    ) -> Iterator[Report]:
        """Yield the reports of the trial, saving its state before each.

        After each test ``keep``, unless it is None, gets the model and embeddings of the fold.
        """


def train(
    settings: TrialSettings, *, resume: bytes | None, save: Callable[[bytes], None], keep: Keep
) -> Iterator[Report]:
    """Run a real trial. Torch is loaded by the first one, not with this module."""
    from trainables.trial.run_trial import run_trial

    return run_trial(settings, resume=resume, save=save, keep=keep)


class TrialWorker:
    """One trial slot. `start` a job, then `step` until an `Ended` comes or it is pruned."""

    def __init__(self, trial: TrialFunction = train) -> None:
        self._trial = trial
        self._job: TrialJob | None = None

    def start(self, job: TrialJob) -> None:
        """Take on a job, which resumes from its checkpoint if there is one."""
        self.stop()
        self._job = job
        self._log = TrialLog(job)
        self._record = _AttemptRecord(job)
        self._reports = _reports(job, self._trial, self._record)

    def step(self) -> list[Message]:
        """Run until the scheduler has to decide; returns the messages until then."""
        assert self._job is not None, "start comes before step"
        messages: list[Message] = []
        try:
            with _captured(self._log):
                for report in self._reports:
                    messages.append(report)
                    self._log.note(report)
                    self._record.reports += 1
                    if _is_to_be_decided(report, self._job):
                        return messages
            ended = _complete(self._log)
        except Exception as error:  # the one place where a failure becomes a result
            ended = _failed(error, self._log, self._job.loss_files)
            clear_frames(error)
        self._end(ended.cause or "complete", ended)
        return [*messages, ended]

    def stop(self) -> None:
        """End the current job, if there is one; its attempt ends as "stopped".

        The trial was pruned, as its row then says, or interrupted.
        """
        if self._job is not None:
            self._end("stopped", None)

    def _end(self, cause: str, ended: Ended | None) -> None:
        # A store that fails here fails the commit of the trial's row too, which reports it. Of an
        # attempt that is stopped, the scheduler or the next run knows all that is lost here.
        with contextlib.suppress(StoreError, CorruptFileError):
            self._record.end(cause, ended)
        if self._record.has_begun:
            self._log.end(ended)
        self._job = None
        self._reports = iter(())
        # After anything else the device may be faulty: using it would raise, and lose the message.
        if cause in (OUT_OF_MEMORY, OUT_OF_HOST_MEMORY):
            release_memory()


def _reports(job: TrialJob, trial: TrialFunction, record: "_AttemptRecord") -> Iterator[Report]:
    """The reports of one attempt, from its checkpoint on, or from scratch if that is damaged."""
    record.begin()
    keep_files(job.loss_files)
    _refuse_other_code(job)
    if trial is train:
        limit_memory(job.demand.gpus)
    start = partial(
        trial,
        job.settings,
        save=partial(checkpoint_files.save, job.paths, job.trial_id),
        keep=_artifact_saver(job),
    )
    try:
        yield from start(resume=checkpoint_files.load(job.paths, job.trial_id))
    except CheckpointError as error:
        checkpoint_files.set_aside(job.paths, job.trial_id)
        record.note = redacted(f"it started from scratch, its checkpoint was set aside: {error}")
        logging.getLogger(__name__).warning(record.note)
        yield from start(resume=None)


def _is_to_be_decided(report: Report, job: TrialJob) -> bool:
    """Whether the scheduler decides after a report if the trial continues."""
    if isinstance(report, TestReport):
        return False
    settings = job.settings
    epochs = int(settings.hyperparameters.get("epochs", settings.training.epochs))
    return report.epoch < epochs or report.fold != settings.folds[-1]


def _complete(log: TrialLog) -> Ended:
    return Ended(state="COMPLETE", log=log.printed(), device_memory_mb=device_memory())


def _failed(error: Exception, log: TrialLog, loss_files: Iterable[str]) -> Ended:
    cause = cause_of(error)
    # What a user has to fix is shown in full, of torch's errors the first line.
    lines = str(error).strip().splitlines()[: None if cause in (INPUT, DATA) else 1]
    text, where = redacted("\n".join(lines)) or type(error).__name__, f"node {platform.node()}"
    if cause == ERROR and loss_files:
        text = redacted(failure_text(error, loss_files))
    if cause in (DATA, STORE) and where not in text:
        text += f" (on the {where})"  # other nodes may see the files
    peak_mb, device_mb = memory_at(cause)
    return Ended(
        state="FAILED",
        cause=cause,
        message=text,
        traceback=redacted("".join(traceback.format_exception(error))),
        log=log.printed(),
        recycle=cause in (ERROR, DEVICE, OUT_OF_MEMORY, OUT_OF_HOST_MEMORY),
        peak_memory_mb=peak_mb,
        device_memory_mb=device_mb,
    )


def _refuse_other_code(job: TrialJob) -> None:
    """Refuse to train by other code than the trial is defined by.

    Raises:
        DataError: naming what differs; it is this node's fault and no trial's.
    """
    try:
        changes = changed_code(job.settings.code, job.paths)
    except TrialInputError as error:
        raise DataError(str(error)) from error
    if changes:
        raise DataError(
            f"node {platform.node()} holds other code than this study began with:"
            f" {'; '.join(map(str, changes))}. Every node must have it as it was"
        )


@contextlib.contextmanager
def _captured(log: TrialLog) -> Iterator[None]:
    """Everything printed, warned or logged goes into ``log``."""
    handler = logging.StreamHandler(log)
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        with (
            contextlib.redirect_stdout(log),
            contextlib.redirect_stderr(log),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("default")
            yield
    finally:
        root.removeHandler(handler)


def _artifact_saver(job: TrialJob) -> Keep:
    """What `run_trial` is to call after each test; None if the job keeps nothing."""
    if not job.keeps_model and not job.keeps_embeddings:
        return None

    def keep(artifacts: "FoldArtifacts") -> None:
        origin = _origin(job)
        if job.keeps_model:
            model = replace(artifacts.model, origin=origin)
            save_model(job.paths, job.trial_id, model.fold, model.to_bytes())
        if job.keeps_embeddings:
            embeddings = replace(artifacts.embeddings, origin=origin)
            save_embeddings(job.paths, job.trial_id, embeddings.fold, embeddings.to_bytes())

    return keep


def _origin(job: TrialJob) -> dict[str, str | int]:
    """Where an artifact is from; no times or machines, so that a rerun leaves the same bytes."""
    return {
        "trial_id": job.trial_id,
        "podium_version": metadata.version("podium"),
        "torch_version": metadata.version("torch"),
        "numerics_version": NUMERICS_VERSION,
    }


class _AttemptRecord:
    """What the store knows of an attempt: that it has begun, and how it ended.

    Args:
        job: the job of which it is an attempt.

    Attributes:
        has_begun: whether it has written that it began.
        reports: number of reports so far.
        note: remark on how it started, for people; None without one.
    """

    def __init__(self, job: TrialJob) -> None:
        self._paths = job.paths
        self._began = time.monotonic()
        self._attempt = Attempt(
            trial_id=job.trial_id,
            number=job.attempt,
            node=platform.node(),
            pid=os.getpid(),
            device=devices(),
            started_at=datetime.now(UTC),
            ended_at=None,
            cause=None,
            cpus=job.demand.cpus,
            gpus=job.demand.gpus,
        )
        self.has_begun = False
        self.reports = 0
        self.note: str | None = None

    def begin(self) -> None:
        """Write that the attempt has begun.

        Raises:
            StoreError: this node does not see the study's folder, or cannot write there.
        """
        if not is_present(self._paths):
            raise StoreError(
                f"node {platform.node()} does not see {self._paths.folder}: storage must be one"
                " folder that every node sees"
            )
        self.has_begun = True
        write_attempt(self._paths, self._attempt)

    def end(self, cause: str, ended: Ended | None) -> None:
        """Write how it ended; nothing if it never began.

        Args:
            cause: why it is over.
            ended: the trial's last message; None if it is ended from outside. Then a cause that
                the scheduler has written already stays.
        """
        if not self.has_begun or (ended is None and self._has_cause()):
            return
        texts = [text for text in (self.note, ended and ended.message) if text]
        over = replace(
            self._attempt,
            device=devices(),  # known better once torch is loaded
            ended_at=datetime.now(UTC),
            cause=cause,
            message="; ".join(texts) or None,
            reports=self.reports,
            seconds=time.monotonic() - self._began,
            peak_memory_mb=ended.peak_memory_mb if ended else None,
            device_memory_mb=ended.device_memory_mb if ended else None,
        )
        write_attempt(self._paths, over)

    def _has_cause(self) -> bool:
        written = read_attempt(self._paths, self._attempt.trial_id, self._attempt.number)
        return written is not None and written.cause is not None
