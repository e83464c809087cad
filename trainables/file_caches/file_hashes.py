"""SHA-256 of files, remembered, so that later starts only look at sizes and times."""

import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

from podium.trainables.errors import TrialInputError, plain_file
from podium.trainables.file_caches.atomic_file import whole_file
from podium.trainables.file_caches.build_progress import in_threads
from podium.trainables.file_caches.file_locks import file_lock
from podium.trainables.hashing import digest

# A file that is written again within the tick of its clock keeps its time. The coarsest clock of a
# file system in use, FAT's, ticks every two seconds; what is younger is not remembered.
_YOUNGEST_NS = 2_000_000_000

_is_trusted: ContextVar[bool] = ContextVar("is_trusted", default=True)


class _Hashed(NamedTuple):
    """What changes with a file, and its hash in hexadecimal digits."""

    num_bytes: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    sha256: str


@contextmanager
def read_anew() -> Iterator[None]:
    """Within the block every byte of every file is read, whatever is remembered."""
    token = _is_trusted.set(False)
    try:
        yield
    finally:
        _is_trusted.reset(token)


def file_hashes(paths: Sequence[Path], cache_folder: Path) -> tuple[str, ...]:
    """SHA-256 of the bytes of each file, in hexadecimal digits.

    A hash is remembered below the cache folder, and taken from there as long as path, size,
    inode and the times of the last changes are the same. Concurrent processes share the work. If
    the folder cannot be written, a warning is printed and nothing is remembered.

    Raises:
        TrialInputError: a file is missing or may not be read.
    """
    if not paths:
        return ()
    # What the first and the last in order have in common, all have.
    ends = [min(paths, key=str).parent, max(paths, key=str).parent]
    root = Path(os.path.commonpath(ends))
    names = [path.relative_to(root).as_posix() for path in paths]
    memory = cache_folder / "file_hashes" / f"{digest(str(root.absolute()))}.json"
    files = list(zip(paths, names, strict=True))
    # Where nothing changed no process waits for another.
    if _is_trusted.get() and (known := _remembered(memory)):
        same = list(
            in_threads(
                lambda file: _as_remembered(file[0], known.get(file[1])),
                files,
                what=f"checking the files of {root}",
            )
        )
        if None not in same:
            return tuple(file.sha256 for file in same if file is not None)
    with ExitStack() as stack:
        with suppress(OSError):  # without a lock work is repeated; `_remember` prints a warning
            memory.parent.mkdir(parents=True, exist_ok=True)
            lock = memory.with_suffix(".lock")
            stack.enter_context(file_lock(lock, doing=f"hashing {root}"))
        return _hashed_by_one(files, root, memory)


def _hashed_by_one(files: Sequence[tuple[Path, str]], root: Path, memory: Path) -> tuple[str, ...]:
    """Hash all files that have changed, by their names in the memory, and remember them."""
    known = _remembered(memory)
    trusted = known if _is_trusted.get() else {}
    started_ns = time.time_ns()
    found = list(
        in_threads(
            lambda file: _hashed(file[0], trusted.get(file[1])), files, what=f"hashing {root}"
        )
    )
    changed = {
        name: file
        for (_, name), file in zip(files, found, strict=True)
        if file != known.get(name)
        and max(file.mtime_ns, file.ctime_ns) <= started_ns - _YOUNGEST_NS
    }
    if changed:
        _remember(memory, {**known, **changed})
    return tuple(file.sha256 for file in found)


def _as_remembered(path: Path, known: _Hashed | None) -> _Hashed | None:
    """``known`` where size and time are unchanged; None otherwise, or if they cannot be read."""
    if known is None:
        return None
    with suppress(OSError):
        status = path.stat()
        if known[:-1] == _state(status):
            return known
    return None


def _hashed(path: Path, known: _Hashed | None) -> _Hashed:
    if same := _as_remembered(path, known):
        return same
    try:
        status = path.stat()
        content = plain_file(path).read_bytes()
    except (FileNotFoundError, PermissionError, IsADirectoryError) as error:
        raise TrialInputError(f"{path} cannot be read: {error.strerror}") from error
    return _Hashed(*_state(status), hashlib.sha256(content).hexdigest())


def _state(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def _remembered(memory: Path) -> dict[str, _Hashed]:
    """Name below the root -> its file; nothing if there is no memory or it is damaged."""
    try:
        content = json.loads(memory.read_bytes())
        return {
            name: _Hashed(int(size), int(mtime), int(ctime), int(inode), str(sha256))
            for name, (size, mtime, ctime, inode, sha256) in content.items()
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _remember(memory: Path, files: dict[str, _Hashed]) -> None:
    try:
        with whole_file(memory) as file:
            file.write(json.dumps(files).encode())
    except OSError as error:
        print(
            f"podium: {memory} cannot be written ({error.strerror}); files will be hashed again",
            file=sys.stderr,
        )
