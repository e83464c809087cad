"""What a worker writes of its try at a trial: when it begins, and over that when it ends."""

import os
import platform
import time
from datetime import UTC, datetime

from orchestrator.results.errors import StoreError
from orchestrator.results.records.attempts import Attempt, read_attempt, write_attempt
from orchestrator.results.records.folder_presence import is_present
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.trials.trial_spec import TrialJob
from orchestrator.trials.worker_messages import Ended

__all__ = ["AttemptRecord"]


class AttemptRecord:
    """One try at a trial, by the process that makes it.

    Attributes:
        reports: how many there were so far.
        note: on how it started, for people.
    """

    def __init__(self, paths: StudyPaths, job: TrialJob) -> None:
        self._paths = paths
        self._job = job
        self._started_at = datetime.now(UTC)
        self._clock = time.monotonic()
        self._has_begun = False
        self.reports = 0
        self.note: str | None = None

    def begin(self) -> None:
        """Write that it is being made.

        Raises:
            StoreError: this node does not see the study's folder, or cannot write there.
        """
        if not is_present(self._paths):
            raise StoreError(
                f"node {platform.node()} does not see {self._paths.folder}: storage must be one"
                " folder that every node sees"
            )
        self._has_begun = True
        self._write(None, None)

    def end(self, cause: str, ended: Ended | None) -> None:
        """Write how it ended; nothing if it never began, or not in the study's folder.

        Args:
            cause: why it is over.
            ended: the trial's last word; None if it is ended from outside. Then what the director
                wrote already stays: it knows why.
        """
        if self._has_begun and not (ended is None and self._is_judged()):
            self._write(cause, ended)

    def _is_judged(self) -> bool:
        written = read_attempt(self._paths, self._job.trial_id, self._job.attempt)
        return written is not None and written.cause is not None

    def _write(self, cause: str | None, ended: Ended | None) -> None:
        told = [text for text in (self.note, ended and ended.message) if text]
        is_over = cause is not None
        write_attempt(
            self._paths,
            Attempt(
                trial_id=self._job.trial_id,
                number=self._job.attempt,
                node=platform.node(),
                pid=os.getpid(),
                device=os.environ.get("CUDA_VISIBLE_DEVICES") or "cpu",
                started_at=self._started_at,
                ended_at=datetime.now(UTC) if is_over else None,
                cause=cause,
                message="; ".join(told) or None,
                reports=self.reports if is_over else None,
                seconds=time.monotonic() - self._clock if is_over else None,
                cpus=self._job.demand.cpus,
                gpus=self._job.demand.gpus,
                peak_memory_mb=ended.peak_memory_mb if ended else None,
                device_memory_mb=ended.device_memory_mb if ended else None,
            ),
        )
