"""Arrays that are expensive to make, kept as files and memory-mapped."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from trainables.errors import TrialInputError

__all__ = ["cached_array"]


def cached_array(path: Path, make: Callable[[], npt.NDArray[np.uint8]]) -> npt.NDArray[np.uint8]:
    """The array in a ``.npy`` file, read-only and memory-mapped; made first if it is not there.

    A file appears under its name only when complete and flushed. Processes that make it at the
    same time do the same work, and the last one's file stays.

    Raises:
        TrialInputError: the file cannot be written or read, or is no array.
    """
    if not path.exists():
        _write(path, make())
    try:
        array: npt.NDArray[np.uint8] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise TrialInputError(
            f"{path} is damaged ({error}); delete it to have it made again"
        ) from error
    return array


def _write(path: Path, array: npt.NDArray[np.uint8]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                np.save(file, array)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(path)
        finally:
            Path(temporary).unlink(missing_ok=True)
    except OSError as error:
        raise TrialInputError(
            f"the cache folder must be writable; {path}: {error.strerror or error}"
        ) from error
