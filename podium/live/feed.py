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
from podium.errors import PodiumError
from podium.live.followed_study import FollowedStudy
from podium.live.view_record import changed_part, view_record

_READ_SECONDS, _REMOTE_READ_SECONDS = 1.0, 30.0
_REST = 100  # times as long as reading took: reading costs 1 % of a core at most
_LOOK_SECONDS = 0.5
_KEEP_ALIVE_SECONDS = 15.0


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

    def close(self) -> None:
        """Have the record read once more, and the streams end with it; from any thread."""
        self._closing.set()

    def read(self) -> None:
        """Bring the record up to date; what cannot be read is said in it."""
        with self._reading:
            try:
                if self._followed is None and exists(StudyPaths(self._folder).store):
                    self._followed = FollowedStudy(self._folder)
                if self._followed is not None:
                    self.record = view_record(self._followed.view())
            except PodiumError as error:
                self.record = {**self.record, "problem": redacted(str(error))}

    async def keep_reading(self) -> None:
        """Read while streams are open, until the feed is closed."""
        due = 0.0
        while not self._closing.is_set():
            if self.num_streams and time.monotonic() >= due:
                began = time.monotonic()
                await asyncio.to_thread(self.read)
                ended = time.monotonic()
                due = ended + max(self._pause, _REST * (ended - began))
            await asyncio.sleep(_LOOK_SECONDS)
        if self.num_streams:
            await asyncio.to_thread(self.read)
        self._closed.set()

    async def changes(self) -> AsyncIterator[dict[str, Any]]:
        """The whole record, then what changes in it; an empty one now and then while nothing does.

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
                    yield changed
                    known, silent_since = now, time.monotonic()
                if is_last:
                    return
                await asyncio.sleep(_LOOK_SECONDS)
        finally:
            self.num_streams -= 1
