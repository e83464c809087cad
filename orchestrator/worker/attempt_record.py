"""Records one attempt at a trial, in the process that runs it."""

import os
import platform
import time
from dataclasses import replace
from datetime import UTC, datetime

from orchestrator.results.records.attempts import Attempt, read_attempt, write_attempt
from orchestrator.results.records.results_folder import is_present
from orchestrator.trials.specification import TrialJob
from orchestrator.trials.worker_messages import Ended
from orchestrator.worker.process_memory import devices
from podium.errors import StoreError

__all__ = ["AttemptRecord"]


class AttemptRecord:
    """What the store knows of an attempt: that it has begun, and how it ended.

    Args:
        job: the job of which it is an attempt.

    Attributes:
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
        self._is_written = False
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
        self._is_written = True
        write_attempt(self._paths, self._attempt)

    def end(self, cause: str, ended: Ended | None) -> None:
        """Write how it ended; nothing if it never began.

        Args:
            cause: why it is over.
            ended: the trial's last message; None if it is ended from outside. Then a cause that
                the scheduler has written already stays.
        """
        if not self._is_written or (ended is None and self._has_cause()):
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
