"""Locks between processes, on one machine or on all that share a file system with locks."""

import errno
import fcntl
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_MOST_OF_A_NAME = 300  # bytes

# What file systems without locks answer: some network mounts, some FUSE.
_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL})


@contextmanager
def file_lock(path: Path, *, doing: str) -> Iterator[bool]:
    """Wait until no other process holds the lock; False where the file system has no locks.

    The system releases the lock when its holder ends, however it ends. The file stays: to delete
    a file that another process waits for would let two hold it. It has the name of the holder;
    waiting processes say what that is ``doing``.

    Raises:
        OSError: the file cannot be made or opened.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        is_locked = _locked(descriptor, path, doing)
        try:
            yield is_locked
        finally:
            if is_locked:
                _sign(descriptor, b"")
    finally:
        os.close(descriptor)


def _locked(descriptor: int, path: Path, doing: str) -> bool:
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _holder(descriptor)
            print(f"podium: {holder} is {doing}; waiting for it", file=sys.stderr, flush=True)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        print(
            f"podium: {path.parent} has no file locks ({error.strerror}); several processes may "
            f"be {doing}, each on its own",
            file=sys.stderr,
        )
        return False
    _sign(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode())
    return True


def _holder(descriptor: int) -> str:
    """Who has the lock, for the user to look after if it is stuck."""
    with suppress(OSError):
        name = os.pread(descriptor, _MOST_OF_A_NAME, 0).decode(errors="replace").strip()
        if name and name.isprintable():
            return name
    return "another process"  # it has the lock and has not signed yet


def _sign(descriptor: int, name: bytes) -> None:
    with suppress(OSError):  # a full disk does not keep the holder from its work
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, name, 0)
