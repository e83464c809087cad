"""What is known of a study, kept up to date for pages that are open; else nothing is read."""

import asyncio
import time
from collections.abc import AsyncIterator
from threading import Event, Lock
from typing import Any

from orchestrator.redaction import redacted
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import exists
from orchestrator.results.storage.locations import Place, RemotePath
from orchestrator.results.storage.transient_errors import retrying_for
from podium.errors import PodiumError
from podium.live.followed_study import FollowedStudy
from podium.live.view_record import changed_part, view_record

_READ_SECONDS, _REMOTE_READ_SECONDS = 1.5, 30.0
_REST, _LONGEST_REST_SECONDS = 80, 10.0  # times as long as reading took: about 1 % of a core
_RETRY_SECONDS = 5.0  # for which storage that is away is asked again before the page says so
_LOOK_SECONDS = 0.5
_KEEP_ALIVE_SECONDS = 5.0
_OLD_SECONDS = 10.0


class Feed:
    """The record of a study, and streams of what changes in it.

    Args:
        folder: results folder of the study, which need not be there yet.

    Attributes:
        record: what is known now.
        num_streams: number of streams that are open.
        num_reports: how often the report was shown.
    """

    def __init__(self, folder: Place) -> None:
        self._folder = folder
        self._pause = _REMOTE_READ_SECONDS if isinstance(folder, RemotePath) else _READ_SECONDS
        self._followed: FollowedStudy | None = None
        self._read_at = time.monotonic()
        self._reading = Lock()
        self._closing = Event()
        self._closed = Event()
        self.record: dict[str, Any] = {}
        self.num_streams = 0
        self.num_reports = 0

    @property
    def is_over(self) -> bool:
        """Whether the study was seen to have ended, with a report."""
        study = self.record.get("study", {})
        return bool(study.get("is_over") and study.get("has_report"))

    async def count_report(self) -> None:
        """Take in that a page got the report."""
        self.num_reports += 1

    def close(self) -> None:
        """Have the record read once more, and the streams end with it; from any thread."""
        self._closing.set()

    @property
    def age(self) -> int | None:
        """Seconds since the record was up to date; None while it is about as new as can be."""
        seconds = time.monotonic() - self._read_at
        return round(seconds) if seconds > _OLD_SECONDS + 2 * self._pause else None

    def read(self) -> float:
        """Bring the record up to date; what cannot be read is said in it.

        Returns:
            Processor time that it took, in seconds.
        """
        with self._reading, retrying_for(_RETRY_SECONDS):
            began = time.thread_time()
            try:
                self._read()
                self._read_at = time.monotonic()
            except PodiumError as error:
                self._tell(str(error))
            except Exception as error:  # a page that says so and tries again, not one that freezes
                self._followed = None  # which may be half up to date
                self._tell(f"a fault of podium, which tries again: {error!r}")
            return time.thread_time() - began

    def _read(self) -> None:
        if self._followed is None and exists(StudyPaths(self._folder).store):
            self._followed = FollowedStudy(self._folder)
        if self._followed is not None:
            self.record = view_record(self._followed.view())

    def _tell(self, problem: str) -> None:
        self.record = {**self.record, "problem": redacted(problem)}

    async def keep_reading(self) -> None:
        """Read while streams are open, until the feed is closed."""
        due = 0.0
        while not self._closing.is_set():
            if self.num_streams and time.monotonic() >= due:
                rest = min(_REST * await asyncio.to_thread(self.read), _LONGEST_REST_SECONDS)
                due = time.monotonic() + max(self._pause, rest)
            await asyncio.sleep(_LOOK_SECONDS)
        if self.num_streams:
            await asyncio.to_thread(self.read)
        self._closed.set()

    async def changes(self) -> AsyncIterator[dict[str, Any]]:
        """The whole record, then what changes in it; its ``age`` now and then while nothing does.

        Ends when the feed is closed.
        """
        known: dict[str, Any] = {}
        self.num_streams += 1
        try:
            silent_since = time.monotonic()
            while True:
                is_last = self._closed.is_set()
                now = self.record
                changed = changed_part(known, now)
                if changed or time.monotonic() - silent_since > _KEEP_ALIVE_SECONDS:
                    yield {**changed, "age": self.age}
                    known, silent_since = now, time.monotonic()
                if is_last:
                    return
                await asyncio.sleep(_LOOK_SECONDS)
        finally:
            self.num_streams -= 1
