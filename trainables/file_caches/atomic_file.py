"""Files that appear under their name only when complete and flushed."""

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_SUFFIX = ".partial"

# A file that was not written to for so long has no writer any more.
_ABANDONED_S = 3600.0


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write beside ``path``, which takes its place at the end; gone after an error.

    A process that is killed leaves it behind, under a name that marks it as incomplete.

    Raises:
        OSError: the file cannot be made, flushed or renamed.
    """
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}{_SUFFIX}")
    try:
        with partial.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def remove_leftovers(path: Path, *, is_locked: bool) -> None:
    """Delete what killed processes left beside ``path``.

    Args:
        path: path of the file that they were to write.
        is_locked: whether the caller holds the lock of that file, so that no other process writes
            it. Of other files, and of this one otherwise, only leftovers older than an hour are
            deleted.
    """
    for partial in path.parent.glob(f".*{_SUFFIX}"):
        is_ours = partial.name.startswith(f".{path.name}.")
        if (is_ours and is_locked) or _age_s(partial) > _ABANDONED_S:
            partial.unlink(missing_ok=True)


def _age_s(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0  # its writer has just ended
