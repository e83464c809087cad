"""Patience with stores that are away for a moment.

A network file system or an object store that does not answer for a minute costs that minute and
nothing else: what failed is tried again, with growing pauses, for `PATIENCE_SECONDS`. That there
is trouble is said once, by a warning of the logger ``podium.store``, and so is its end. A full
disk, a missing permission or a wrong name are no such trouble: they are told at once.
"""

import errno
import logging
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from orchestrator.results.errors import UnreachableError

__all__ = ["PATIENCE_SECONDS", "is_transient", "patience_of", "patiently"]

PATIENCE_SECONDS = 120.0
"""How long an operation is tried again before the store counts as unreachable."""

_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 5.0

# EIO is what soft mounts of NFS and file systems in user space say of a server that is away; a
# broken disk says it too, and costs the two minutes before it is told.
_TRANSIENT = {
    *(errno.ESTALE, errno.EIO, errno.ETIMEDOUT, errno.EHOSTDOWN, errno.EHOSTUNREACH),
    *(errno.ENETDOWN, errno.ENETUNREACH, errno.ENETRESET, errno.ENOTCONN, errno.ECONNRESET),
    *(errno.ECONNREFUSED, errno.ECONNABORTED, errno.ESHUTDOWN, errno.EAGAIN, errno.EINTR),
    *(getattr(errno, name, errno.ESTALE) for name in ("EREMOTEIO", "ECOMM", "ENOLINK")),
}

_log = logging.getLogger("podium.store")
_limit: ContextVar[float | None] = ContextVar("patience", default=None)

T = TypeVar("T")


def is_transient(error: OSError) -> bool:
    """Whether an error of the operating system may be over in a moment."""
    return error.errno in _TRANSIENT


@contextmanager
def patience_of(seconds: float) -> Iterator[None]:
    """Within the block, in this thread, operations are tried again for so long; 0 means never."""
    token = _limit.set(seconds)
    try:
        yield
    finally:
        _limit.reset(token)


def patiently(action: Callable[[], T]) -> T:
    """The answer of an action that is tried again while it raises UnreachableError.

    Raises:
        UnreachableError: of the last try, when patience is over.
    """
    try:
        return action()
    except UnreachableError as error:
        first = error
    return _again(action, first)


def _again(action: Callable[[], T], problem: UnreachableError) -> T:
    chosen = _limit.get()
    limit = PATIENCE_SECONDS if chosen is None else chosen
    deadline = time.monotonic() + limit
    pause = _FIRST_PAUSE_SECONDS
    while (left := deadline - time.monotonic()) > 0:
        _outage.noticed(problem, limit)
        # Workers that failed together should not all come back together.
        time.sleep(min(left, pause * random.uniform(0.5, 1.5)))
        pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
        try:
            answer = action()
        except UnreachableError as error:
            problem = error
        else:
            _outage.over()
            return answer
    if limit > 0:  # else nothing was said here, and others may be waiting
        _outage.forget()  # the error says it; the next trouble is news again
    raise problem


class _Outage:
    """Says once that the store is away, and once that it is back, whatever number of threads."""

    def __init__(self) -> None:
        self._is_known = False
        self._guard = threading.Lock()

    def noticed(self, problem: UnreachableError, seconds: float) -> None:
        with self._guard:
            is_new, self._is_known = not self._is_known, True
        if is_new:
            _log.warning("%s; trying again for up to %g s", problem, seconds)

    def forget(self) -> None:
        with self._guard:
            self._is_known = False

    def over(self) -> None:
        with self._guard:
            was_known, self._is_known = self._is_known, False
        if was_known:
            _log.warning("the results store answers again")


_outage = _Outage()
