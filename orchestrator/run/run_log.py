"""The log file of a run: what podium says and decides, and what Ray says, without secrets.

It is bounded: of a long log the beginning and the end are kept, and of a study the latest logs.
No result depends on it, so a log that cannot be written is no failure.
"""

import contextlib
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from podium.errors import PodiumError
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.files import list_files, put, remove
from podium.orchestrator.results.storage.locations import RemotePath
from podium.orchestrator.results.storage.transient_errors import retrying_for
from podium.orchestrator.trials.bounded_text import BoundedText

_MAX_LOGS = 20  # of the latest runs
_KEPT_CHARACTERS = 250_000  # of the beginning, and as many of the end
_WRITE_SECONDS = 10.0
_REMOTE_WRITE_SECONDS = 60.0  # every write is a request there
_LOGGER = logging.getLogger("podium")
_FORMAT = logging.Formatter("%(asctime)s %(levelname)-7s %(name)s: %(message)s")


@contextmanager
def run_log(paths: StudyPaths) -> Iterator[None]:
    """Log what happens within the block into a file of the results folder, which the run owns."""
    lines, ended = BoundedText(_KEPT_CHARACTERS), threading.Event()
    handler = logging.StreamHandler(lines)
    handler.setFormatter(_FORMAT)
    place = paths.run_log(f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
    is_remote = isinstance(paths.folder, RemotePath)

    written = ""

    def write() -> None:
        nonlocal written
        # The next time is soon enough, and what keeps the folder from being written is said.
        with contextlib.suppress(PodiumError), retrying_for(0):
            if (text := lines.text()) != written:
                put(place, text.encode(errors="backslashreplace"))
                written = text

    def keep_writing() -> None:
        while not ended.wait(_REMOTE_WRITE_SECONDS if is_remote else _WRITE_SECONDS):
            write()

    writer = threading.Thread(target=keep_writing, name="run-log", daemon=True)
    level = _LOGGER.level
    _LOGGER.addHandler(handler)
    _LOGGER.setLevel(logging.DEBUG)
    writer.start()
    try:
        yield
    except BaseException as error:
        logging.getLogger(__name__).debug("the run ended by %s: %s", type(error).__name__, error)
        raise
    finally:
        _LOGGER.removeHandler(handler)
        _LOGGER.setLevel(level)
        ended.set()
        writer.join()
        write()
        with contextlib.suppress(PodiumError), retrying_for(0):
            logs = [
                file for file in list_files(paths.logs, ".log") if file.name.startswith("run-")
            ]
            remove(*logs[:-_MAX_LOGS])
