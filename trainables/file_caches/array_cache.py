"""Arrays that are expensive to make, kept as files and memory-mapped."""

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from podium.trainables.errors import TrialInputError
from podium.trainables.file_caches.built_file import Write, built_once


def cache_folder_at(given: str | None) -> Path:
    """The folder for what is expensive to make.

    Where none is given it is ``podium`` below ``$XDG_CACHE_HOME``, or below ``~/.cache``.

    Raises:
        TrialInputError: the user has no home.
    """
    if given is not None:
        return Path(given)
    root = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(root) if root else Path.home() / ".cache") / "podium"
    except RuntimeError:
        raise TrialInputError(
            "there is no folder for what is expensive to make: this user has no home; set"
            " XDG_CACHE_HOME to a folder that can be written"
        ) from None


def cached_array(path: Path, make: Callable[[], npt.NDArray[np.uint8]]) -> npt.NDArray[np.uint8]:
    """The array in a ``.npy`` file, read-only and memory-mapped; made first if it is not there.

    Raises:
        TrialInputError: the file cannot be written or read.
    """

    def build(write: Write) -> None:
        content = io.BytesIO()
        np.save(content, make())
        write(content.getbuffer())

    return built_once(path, read_array, build, doing=f"making {path}")


def read_array(path: Path) -> npt.NDArray[Any] | None:
    """The array in a ``.npy`` file, read-only and memory-mapped; None if it is not whole.

    Raises:
        OSError: the file is not there or cannot be read.
    """
    try:
        array: npt.NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError):
        return None
    return array
