"""Retries operations on stores that do not answer for a moment.

A network file system or an object store that is away for a minute costs that minute and nothing
else: what failed is retried, with growing pauses, for `RETRY_SECONDS`. Each operation that waits
is logged once, as a warning of ``podium.store``. A full disk, a missing permission or a wrong name
are not transient: they are raised at once.
"""

import errno
import logging
import math
import random
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

_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)

_log = logging.getLogger("podium.store")

T = TypeVar("T")


def is_transient(error: OSError) -> bool:
    """Whether an error of the operating system may be over in a moment, by its number."""
    return error.errno in _TRANSIENT


@contextmanager
def retrying_for(seconds: float) -> Iterator[None]:
    """Retry the operations of this thread within the block for so long in all; 0 means never."""
    token = _deadline.set(min(_deadline.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


def with_retries(action: Callable[[], T]) -> T:
    """The result of an action that is repeated while it raises UnreachableError.

    The limit is `RETRY_SECONDS`, and that of `retrying_for`.

    Raises:
        UnreachableError: that of the last attempt, when the time is over.
    """
    deadline, pause = None, _FIRST_PAUSE_SECONDS
    while True:
        try:
            return action()
        except UnreachableError as error:
            now = time.monotonic()
            if deadline is None:
                deadline = min(_deadline.get(), now + RETRY_SECONDS)
                if (limit := deadline - now) > 0:
                    _log.warning("%s; trying again for up to %g s", error, round(limit, 1))
            if now >= deadline:
                raise
            # Workers that failed together should not all come back together.
            time.sleep(min(deadline - now, pause * random.uniform(0.5, 1.5)))
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
