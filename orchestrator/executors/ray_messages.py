"""What Ray has to say to this process goes into a file: the terminal is podium's.

Ray prints what its processes report, with their traces, though it was told not to log to the
driver. Errors that matter reach podium as exceptions and deaths, and are said once.
"""

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ray._private import utils
from ray._private import worker as ray_worker

_LOGGER = logging.getLogger("ray")
_OURS = logging.getLogger(__name__)
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def keep_messages(file: Path) -> None:
    """Write what Ray logs and prints in this process into ``file``, instead of the terminal."""
    handler = logging.FileHandler(file, delay=True)
    handler.setFormatter(logging.Formatter(_FORMAT))
    _use(handler)
    _LOGGER.addHandler(_ToLogOfRun())
    ray_worker.print_to_stdstream = _log_printed


class _ToLogOfRun(logging.Handler):
    """Hands on what Ray says to the log of the run, and to whoever wants to see all of it."""

    def emit(self, record: logging.LogRecord) -> None:
        _OURS.debug("Ray: %s", record.getMessage())


def drop_messages() -> None:
    """Close the file: there is no cluster any more whose messages matter."""
    _use(logging.NullHandler())


@contextmanager
def kept_sigterm_handler() -> Iterator[None]:
    """Keep Ray from taking SIGTERM for itself while it starts.

    Its handler in Python would exit in the middle of the start; that of its core prints a stack
    trace at each signal, and may abort the process.
    """
    utils.set_sigterm_handler = lambda handler: None
    try:
        yield
    finally:
        handler = signal.getsignal(signal.SIGTERM)  # as Python knows it, which Ray's core does not
        if handler is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)


def _use(handler: logging.Handler) -> None:
    for old in tuple(_LOGGER.handlers):
        _LOGGER.removeHandler(old)
        old.close()
    _LOGGER.addHandler(handler)


def _log_printed(data: dict[str, Any], ignore_prefix: bool) -> None:
    _LOGGER.error("%s: %s", data.get("pid"), "\n".join(data["lines"]))
