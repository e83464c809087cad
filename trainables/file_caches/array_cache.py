"""Arrays that are expensive to make, kept as files and memory-mapped."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from trainables.errors import TrialInputError
from trainables.file_caches.atomic_file import whole_file


def cache_folder_at(given: str | None) -> Path:
    """The folder for what is expensive to make.

    Args:
        given: what a trial says; None means ``podium`` below ``$XDG_CACHE_HOME``, or below
            ``~/.cache`` where that is not set.
    """
    if given is not None:
        return Path(given)
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "podium"


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
            f"{path} is damaged ({error}); delete it, and it is made again"
        ) from error
    return array


def _write(path: Path, array: npt.NDArray[np.uint8]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            np.save(file, array)
    except OSError as error:
        raise TrialInputError(
            f"the cache folder must be writable; {path}: {error.strerror or error}"
        ) from error
