"""The log file of a run: what podium says and decides, and what Ray says, without secrets.

It is bounded: of a long log the beginning and the end are kept, and of a study the latest logs.
No result depends on it, so a log that cannot be written is no failure.
"""

import contextlib
import logging
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from podium.errors import PodiumError
from podium.orchestrator.redaction import redacted_texts
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.files import list_files, put, remove
from podium.orchestrator.results.storage.locations import RemotePath
from podium.orchestrator.results.storage.transient_errors import retrying_for

_MAX_LOGS = 20  # of the latest runs
_KEPT_LINES = 2_000  # of the beginning, and as many of the end
_LONGEST_LINE = 2_000  # characters
_NUM_TOGETHER = 100  # messages; the environment is looked through for secrets once for them
_WRITE_SECONDS = 10.0
_REMOTE_WRITE_SECONDS = 60.0  # every write is a request there
_LOGGER = logging.getLogger("podium")
_FORMAT = logging.Formatter("%(asctime)s %(levelname)-7s %(name)s: %(message)s")


class _Lines(logging.Handler):
    """The first and the last lines that are logged."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self._messages: list[str] = []  # still with their secrets
        self._first: list[str] = []
        self._last: deque[str] = deque(maxlen=_KEPT_LINES)
        self.count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self._messages.append(_FORMAT.format(record))
        if len(self._messages) >= _NUM_TOGETHER:
            self.flush()

    def flush(self) -> None:
        with self._held():
            messages, self._messages = self._messages, []
            for message in redacted_texts(messages):
                self._add(message.splitlines())

    def _add(self, lines: Iterable[str]) -> None:
        for line in lines:
            kept = self._first if self.count < _KEPT_LINES else self._last
            kept.append(line[:_LONGEST_LINE])
            self.count += 1

    @contextmanager
    def _held(self) -> Iterator[None]:
        self.acquire()
        try:
            yield
        finally:
            self.release()

    def text(self) -> str:
        with self._held():
            left_out = self.count - len(self._first) - len(self._last)
            between = [f"[{left_out} lines left out]"] if left_out else []
            return "".join(f"{line}\n" for line in [*self._first, *between, *self._last])


@contextmanager
def run_log(paths: StudyPaths) -> Iterator[None]:
    """Log what happens within the block into a file of the results folder, which the run owns."""
    lines, ended = _Lines(), threading.Event()
    place = paths.run_log(f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
    is_remote = isinstance(paths.folder, RemotePath)

    def write() -> None:
        # The next time is soon enough, and what keeps the folder from being written is said.
        with contextlib.suppress(PodiumError), retrying_for(0):
            put(place, lines.text().encode(errors="backslashreplace"))

    def keep_writing() -> None:
        written = 0
        while not ended.wait(_REMOTE_WRITE_SECONDS if is_remote else _WRITE_SECONDS):
            lines.flush()
            if lines.count > written:
                written = lines.count
                write()

    writer = threading.Thread(target=keep_writing, name="run-log", daemon=True)
    level = _LOGGER.level
    _LOGGER.addHandler(lines)
    _LOGGER.setLevel(logging.DEBUG)
    writer.start()
    try:
        yield
    except BaseException as error:
        logging.getLogger(__name__).debug("the run ended by %s: %s", type(error).__name__, error)
        raise
    finally:
        _LOGGER.removeHandler(lines)
        _LOGGER.setLevel(level)
        ended.set()
        writer.join()
        lines.flush()
        if lines.count:
            write()
            _remove_old(paths, _MAX_LOGS)


def _remove_old(paths: StudyPaths, num_kept: int) -> None:
    with contextlib.suppress(PodiumError), retrying_for(0):
        logs = [file for file in list_files(paths.logs, ".log") if file.name.startswith("run-")]
        remove(*logs[:-num_kept])
