"""Copies of remote files on this machine, for readers that need a real file.

Only what never changes is copied: committed trials, gathered files, weights. So each is fetched
once in the life of a process, several at a time, into a folder of its own that no other user can
read and that is deleted when the process ends.
"""

import atexit
import functools
import hashlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from podium.errors import StoreError
from podium.orchestrator.results.storage.files import each, exists, put, read_bytes, remove
from podium.orchestrator.results.storage.local_files import store_errors
from podium.orchestrator.results.storage.locations import Place, RemotePath


def local_copy(place: Place) -> Path:
    """A file of this machine with the content of ``place``; a local file is its own.

    There is none where ``place`` is missing: that is left for its reader to report.

    Raises:
        CorruptFileError: it is a link, a folder, a pipe or a device, or larger than memory.
        StoreError: it cannot be read, or this machine has no room for it.
    """
    if not isinstance(place, RemotePath):
        exists(place)  # and is a regular file
        return place
    copy = _copy_of(place)
    if not copy.exists() and (content := read_bytes(place)) is not None:
        put(copy, content)
    return copy


def local_copies(places: Sequence[Place]) -> list[Path]:
    """As `local_copy`, of many files; those not here yet are fetched several at once."""
    return list(each(local_copy, places))


def keep_copy(place: Place, content: bytes) -> None:
    """Keep what was just written to a remote file as its copy, so that it is not fetched.

    Where this machine has no room for it, it is fetched by who needs it.
    """
    if isinstance(place, RemotePath):
        with suppress(StoreError):
            copy = _copy_of(place)
            remove(copy)  # of a trial that is made again
            put(copy, content)


def _copy_of(place: RemotePath) -> Path:
    digest = hashlib.sha256(str(place).encode()).hexdigest()
    with store_errors("copy", place):
        return _folder(os.getpid()) / f"{digest}{PurePosixPath(place.key).suffix}"


@functools.cache
def _folder(process: int) -> Path:
    """One for each process: a forked one must not delete what its parent reads."""
    folder = Path(tempfile.mkdtemp(prefix="podium-copies-"))

    def delete() -> None:
        if os.getpid() == process:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(delete)
    return folder
