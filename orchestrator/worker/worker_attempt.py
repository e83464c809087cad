"""One attempt at a trial as its worker sees it: its log, and what the store knows of it."""

import contextlib
import io
import logging
import os
import platform
import time
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

from podium.errors import StoreError
from podium.orchestrator.redaction import redacted
from podium.orchestrator.results.records.journal_records import Attempt
from podium.orchestrator.results.storage.files import exists, put
from podium.orchestrator.results.storage.locations import RemotePath
from podium.orchestrator.study.foreign_code import changed_code
from podium.orchestrator.trials.failure_causes import (
    DATA,
    DEVICE,
    ERROR,
    INPUT,
    OUT_OF_HOST_MEMORY,
    OUT_OF_MEMORY,
    STORE,
    cause_of,
)
from podium.orchestrator.trials.specification import TrialJob
from podium.orchestrator.trials.worker_messages import Ended, Message, Saved
from podium.orchestrator.worker.process_memory import device_memory, devices, memory_at
from podium.orchestrator.worker.trial_log import TrialLog
from podium.trainables.errors import DataError, TrialInputError
from podium.trainables.importable_code import failure_text
from podium.trainables.own_files import keep_files
from podium.trainables.trial_reports import Report


class CheckpointSaver:
    """Saves checkpoints of one attempt.

    Attributes:
        has_saved: whether it saved one, or may have before it failed to.
    """

    def __init__(self, job: TrialJob) -> None:
        self._job = job
        self._saved = time.monotonic()
        self.has_saved = False

    def is_due(self) -> bool:
        """Whether the last checkpoint, or the start, is as long ago as the study lets it be."""
        return time.monotonic() - self._saved >= 60.0 * self._job.checkpoint_minutes

    def __call__(self, state: bytes) -> None:
        """Replace the checkpoint of the trial, whether or not that is due."""
        self.has_saved = True
        put(self._job.paths.checkpoint(self._job.trial_id), state)
        self._saved = time.monotonic()


class WorkerAttempt:
    """An attempt from its job to its last message.

    Attributes:
        log: takes what the trial prints.
        save: saves its checkpoints.
        note: remark on how it started, for people; None without one.
    """

    def __init__(self, job: TrialJob) -> None:
        self.job = job
        self.log = TrialLog(job)
        self.save = CheckpointSaver(job)
        self.note: str | None = None
        self.num_reports = 0
        self._began = time.monotonic()
        self._attempt = Attempt(
            trial_id=job.trial_id,
            search=job.search,
            number=job.attempt,
            node=platform.node(),
            pid=os.getpid(),
            device=devices(),
            started_at=datetime.now(UTC),
            cpus=job.demand.cpus,
            gpus=job.demand.gpus,
            members=1,
        )
        self._has_begun = False
        self._untold_begin = self._untold_save = True

    def begin(self, members: int = 1) -> None:
        """See that the trial, or a population of so many members, can be what it is to be here.

        Raises:
            StoreError: this node does not see the study's folder.
            DataError: this node has other code than the trial is defined by.
        """
        paths = self.job.paths
        # A folder made in place of a mount that went away would hide that.
        if not (isinstance(paths.folder, RemotePath) or exists(paths.store)):
            raise StoreError(
                f"node {platform.node()} does not see {paths.folder}: storage must be one folder"
                " that every node sees"
            )
        self._has_begun = True
        self._untold_begin = True
        self._attempt = replace(self._attempt, members=members)
        keep_files(self.job.own_files)
        _refuse_other_code(self.job)

    def take(self, report: Report) -> list[Message]:
        """Note a report of the trial; what the scheduler is told then."""
        self.log.note(report)
        self.num_reports += 1
        told: list[Message] = []
        if self._untold_begin:
            self._untold_begin = False
            told.append(replace(self._attempt, device=devices()))
        if self._untold_save and self.save.has_saved:
            self._untold_save = False
            told.append(Saved())
        return [*told, report]

    def complete(self) -> Ended:
        """The last message of a trial that came to its end."""
        log = self.log.printed()
        ended = Ended(state="COMPLETE", log=log, device_memory_mb=device_memory())
        return self._with_attempt(ended)

    def failed(self, error: Exception) -> Ended:
        """The last message of a trial that an error ended."""
        cause = cause_of(error)
        # What a user has to fix is shown in full, of torch's errors the first line.
        lines = str(error).strip().splitlines()[: None if cause in (INPUT, DATA) else 1]
        text, where = redacted("\n".join(lines)) or type(error).__name__, f"node {platform.node()}"
        if cause == ERROR and self.job.own_files:
            text = redacted(failure_text(error, self.job.own_files))
        if cause in (DATA, STORE) and where not in text:
            text += f" (on the {where})"  # other nodes may see the files
        peak_mb, device_mb = memory_at(cause)
        ended = Ended(
            state="FAILED",
            cause=cause,
            message=text,
            traceback=redacted("".join(traceback.format_exception(error))),
            log=self.log.printed(),
            recycle=cause in (ERROR, DEVICE, OUT_OF_MEMORY, OUT_OF_HOST_MEMORY),
            peak_memory_mb=peak_mb,
            device_memory_mb=device_mb,
        )
        return self._with_attempt(ended)

    def end(self, ended: Ended | None) -> None:
        """Write into the log how it ended; nothing if it never began.

        Without a last message it is ended from outside: pruned, as its row then says, or stopped.
        """
        if self._has_begun:
            self.log.end(ended)

    def _with_attempt(self, ended: Ended) -> Ended:
        """The last message with what the scheduler need not ask the store for then."""
        has_saved = self.save.has_saved or self.job.attempt > 1
        attempt = self._over(ended) if self._has_begun else None
        return replace(ended, attempt=attempt, has_saved=has_saved)

    def _over(self, ended: Ended) -> Attempt:
        texts = [text for text in (self.note, ended.message) if text]
        return replace(
            self._attempt,
            device=devices(),  # known better once torch is loaded
            ended_at=datetime.now(UTC),
            cause=ended.cause or "complete",
            message="; ".join(texts) or None,
            reports=self.num_reports,
            seconds=time.monotonic() - self._began,
            peak_memory_mb=ended.peak_memory_mb,
            device_memory_mb=ended.device_memory_mb,
        )


def _refuse_other_code(job: TrialJob) -> None:
    """Refuse to train by other code than the trial is defined by.

    Raises:
        DataError: naming what differs; it is this node's fault and no trial's.
    """
    try:
        changes = changed_code(job.settings.code)
    except TrialInputError as error:
        raise DataError(str(error)) from error
    if changes:
        raise DataError(
            f"node {platform.node()} holds other code than this study began with:"
            f" {'; '.join(changes.values())}. Every node must have it as it was"
        )


@contextlib.contextmanager
def captured(log: io.TextIOBase) -> Iterator[None]:
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
