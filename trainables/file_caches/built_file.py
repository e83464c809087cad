"""Files that are expensive to make: built once per node, whole, while other processes wait."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

from podium.trainables.errors import TrialInputError
from podium.trainables.file_caches.atomic_file import remove_leftovers, whole_file
from podium.trainables.file_caches.file_locks import file_lock

_Content = TypeVar("_Content")


Write = Callable[[bytes | memoryview], None]
"""Appends bytes to a file that is being built."""


def built_once(
    path: Path,
    read: Callable[[Path], _Content | None],
    build: Callable[[Write], None],
    *,
    doing: str,
) -> _Content:
    """What is in a file, which is built first if it is not there or damaged.

    Concurrent processes wait for one of them to build it; if that one is killed, another builds
    it again. The file appears under its name only when complete and flushed.

    Args:
        path: path of the file; its name must follow from everything that changes its content.
        read: reads it, None if it is not whole; FileNotFoundError counts as None.
        build: writes all content. Its errors are passed on as they are.
        doing: the work in words, for waiting processes.

    Raises:
        TrialInputError: the file cannot be written or read: no space, no permission.
    """
    with ExitStack() as stack:
        with _cache_errors(path):
            if (found := _found(path, read)) is not None:
                return found
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = file_lock(path.with_suffix(".lock"), doing=doing)
            is_locked = stack.enter_context(lock)
            # The process that held the lock before may have built it.
            if (found := _found(path, read)) is not None:
                return found
            if path.exists():
                print(f"podium: {path} is damaged and is made again", file=sys.stderr)
            remove_leftovers(path, is_locked=is_locked)
        _write(path, build)
        with _cache_errors(path):
            found = _found(path, read)
    assert found is not None, "it was just written"
    return found


def _found(path: Path, read: Callable[[Path], _Content | None]) -> _Content | None:
    try:
        return read(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


@contextmanager
def _cache_errors(path: Path) -> Iterator[None]:
    """Turn errors of the file system of the cache into errors that the user can fix."""
    try:
        yield
    except OSError as error:
        raise TrialInputError(
            f"the cache folder must be writable; {path}: {error.strerror or error}."
            " XDG_CACHE_HOME may name another"
        ) from error


class _OfSource(Exception):
    """Carries an OSError of what is read while building through `_cache_errors`."""


def _write(path: Path, build: Callable[[Write], None]) -> None:
    try:
        with _cache_errors(path), whole_file(path) as file:

            def write(content: bytes | memoryview) -> None:
                with _cache_errors(path):
                    file.write(content)

            try:
                build(write)
            except OSError as error:
                raise _OfSource(error) from None
    except _OfSource as carried:
        raise carried.args[0] from None
