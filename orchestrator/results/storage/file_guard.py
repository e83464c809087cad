"""A file that one process at a time holds, on one machine or all that share a file system."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from orchestrator.results.storage.local_files import make_folder, open_regular, store_errors
from orchestrator.results.storage.transient_errors import with_retries

__all__ = ["exclusive"]

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
    descriptor = with_retries(partial(_opened_guard, guard))
    try:
        yield with_retries(partial(_is_locked_within, guard, descriptor, limit_seconds))
    finally:
        os.close(descriptor)


def _opened_guard(guard: Path) -> int:
    with store_errors("lock", guard):
        make_folder(guard.parent)
        return open_regular(guard, os.O_RDWR | os.O_CREAT)


def _is_locked_within(guard: Path, descriptor: int, limit_seconds: float) -> bool:
    deadline = time.monotonic() + limit_seconds
    with store_errors("lock", guard):
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                if time.monotonic() > deadline:
                    return False
            time.sleep(_POLL_SECONDS)
