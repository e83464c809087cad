"""Retries operations on stores that do not answer for a moment.

A network file system or an object store that is away for a minute costs that minute and nothing
else: what failed is retried, with growing pauses, for `RETRY_SECONDS`. An outage is logged once
as a warning of ``podium.store``, and so is its end, however many threads see it. A full disk, a
missing permission or a wrong name are not transient: they are raised at once.
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

from podium.errors import UnreachableError

RETRY_SECONDS = 120.0
"""How long an operation is retried before the store counts as unreachable."""

_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 5.0

# EIO is what soft mounts of NFS and file systems in user space say of a server that is away; a
# broken disk says it too, and is raised only after the two minutes.
_TRANSIENT = {
    *(errno.ESTALE, errno.EIO, errno.ETIMEDOUT, errno.EHOSTDOWN, errno.EHOSTUNREACH),
    *(errno.ENETDOWN, errno.ENETUNREACH, errno.ENETRESET, errno.ENOTCONN, errno.ECONNRESET),
    *(errno.ECONNREFUSED, errno.ECONNABORTED, errno.ESHUTDOWN, errno.EAGAIN, errno.EINTR),
    *(getattr(errno, name, errno.ESTALE) for name in ("EREMOTEIO", "ECOMM", "ENOLINK")),
}

_log = logging.getLogger("podium.store")
_limit: ContextVar[float | None] = ContextVar("retry_seconds", default=None)

T = TypeVar("T")


def is_transient(error: OSError) -> bool:
    """Whether an error of the operating system may be over in a moment, by its number."""
    return error.errno in _TRANSIENT


@contextmanager
def retrying_for(seconds: float) -> Iterator[None]:
    """Retry operations of this thread for so many seconds within the block; 0 means never."""
    token = _limit.set(seconds)
    try:
        yield
    finally:
        _limit.reset(token)


def with_retries(action: Callable[[], T]) -> T:
    """The result of an action that is repeated while it raises UnreachableError.

    The limit is that of `retrying_for`, or `RETRY_SECONDS`.

    Raises:
        UnreachableError: that of the last attempt, when the time is over.
    """
    try:
        return action()
    except UnreachableError as error:
        first = error
    return _repeated(action, first)


def _repeated(action: Callable[[], T], problem: UnreachableError) -> T:
    chosen = _limit.get()
    limit = RETRY_SECONDS if chosen is None else chosen
    deadline = time.monotonic() + limit
    pause = _FIRST_PAUSE_SECONDS
    while (left := deadline - time.monotonic()) > 0:
        _outage.begin(problem, limit)
        # Workers that failed together should not all come back together.
        time.sleep(min(left, pause * random.uniform(0.5, 1.5)))
        pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
        try:
            result = action()
        except UnreachableError as error:
            problem = error
        else:
            _outage.end()
            return result
    if limit > 0:  # else nothing was logged here, and other threads may still be retrying
        _outage.forget()  # the error reports this outage; the next one is logged again
    raise problem


class _Outage:
    """Logs once that the store is away and once that it is back, however many threads see it."""

    def __init__(self) -> None:
        self._is_known = False
        self._guard = threading.Lock()

    def begin(self, problem: UnreachableError, seconds: float) -> None:
        with self._guard:
            is_new, self._is_known = not self._is_known, True
        if is_new:
            _log.warning("%s; trying again for up to %g s", problem, seconds)

    def forget(self) -> None:
        with self._guard:
            self._is_known = False

    def end(self) -> None:
        with self._guard:
            was_known, self._is_known = self._is_known, False
        if was_known:
            _log.warning("the results store responds again")


_outage = _Outage()
