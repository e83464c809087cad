"""One process at a time, on one machine or on all that share a file system with locks."""

import errno
import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["held_by_one"]

# What file systems without locks answer: some network mounts, some FUSE.
_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL})


@contextmanager
def held_by_one(path: Path, *, doing: str) -> Iterator[bool]:
    """Wait until nobody else is inside; True, or False where the file system has no locks.

    The system lets go of the lock when its holder ends, however it ends. The file stays: to delete
    a file that another waits for would let two in.

    Args:
        path: an empty file, made if it is not there.
        doing: what the holder does, for the note of whoever waits.

    Raises:
        OSError: the file cannot be made or opened.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        yield _locked(descriptor, path, doing)
    finally:
        os.close(descriptor)


def _locked(descriptor: int, path: Path, doing: str) -> bool:
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"podium: another process is {doing}; waiting for it", file=sys.stderr)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        print(
            f"podium: {path.parent} has no file locks ({error.strerror}); several processes may "
            f"be {doing}, each for itself",
            file=sys.stderr,
        )
        return False
    return True
