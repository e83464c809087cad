"""Files that appear under their name only when complete and flushed."""

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
    """Delete what killed processes left beside ``path``, which they were to write.

    Unless the caller holds the lock of that file, and of other files, only leftovers older than an
    hour are deleted: others may be writing them.
    """
    for partial in path.parent.glob(f".*{_SUFFIX}"):
        is_ours = is_locked and partial.name.startswith(f".{path.name}.")
        with suppress(FileNotFoundError):  # its writer has just ended
            if is_ours or time.time() - partial.stat().st_mtime > _ABANDONED_S:
                partial.unlink()
