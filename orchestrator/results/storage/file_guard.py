"""A file that one process at a time holds, on one machine or all that share a file system."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orchestrator.results.storage.local_files import make_folder, open_regular, retried

_POLL_SECONDS = 0.01


@contextmanager
def exclusive(guard: Path, *, limit_seconds: float) -> Iterator[bool]:
    """Hold ``guard`` against other processes; False if it was not free within the limit.

    The operating system frees it when its holder dies. By `fcntl` and not the library filelock,
    which on a file system without locks falls back to a file that outlives its holder.

    Raises:
        CorruptFileError: ``guard`` is a link, a folder, a pipe, a socket or a device.
        StoreError: it cannot be made or locked.
    """
    descriptor = _opened(guard)
    try:
        yield _is_locked_within(guard, descriptor, limit_seconds)
    finally:
        os.close(descriptor)


@retried("lock")
def _opened(guard: Path) -> int:
    make_folder(guard.parent)
    return open_regular(guard, os.O_RDWR | os.O_CREAT)


@retried("lock")
def _is_locked_within(guard: Path, descriptor: int, limit_seconds: float) -> bool:
    deadline = time.monotonic() + limit_seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
        time.sleep(_POLL_SECONDS)
