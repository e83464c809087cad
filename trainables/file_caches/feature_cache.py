"""Features that are computed once per node, in a file. N = images, B = some of them, F = features.

The file is a ``.npy`` array that is written piece by piece, so that no more than a piece of it is
ever in memory.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from trainables.errors import TrialInputError
from trainables.file_caches.atomic_file import remove_leftovers, whole_file
from trainables.file_caches.build_progress import Progress
from trainables.file_caches.feature_vectors import FeatureVectors
from trainables.file_caches.file_locks import file_lock

Write = Callable[[npt.NDArray[np.float32]], None]
Fill = Callable[[Write], None]


def cached_features(path: Path, num_images: int, fill: Fill, *, what: str) -> FeatureVectors:
    """The vectors in a file, memory-mapped and read-only; computed first if it is not there.

    Concurrent processes wait for one of them to compute them; if that one is killed, another
    computes them again. The file appears under its name only when complete.

    Args:
        path: path of the file; its name must follow from everything that changes the vectors.
        num_images: N, at least 1.
        fill: function that calls ``write`` with all vectors, in order, in pieces of shape (B, F).
        what: the work in words, for waiting processes and for the line of progress.

    Raises:
        TrialInputError: the file cannot be written, or a vector is not finite.
    """
    with ExitStack() as stack:
        with _cache_errors(path):
            vectors = _read(path, num_images)
            if vectors is not None:
                return vectors
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = file_lock(path.with_suffix(".lock"), doing=what)
            is_locked = stack.enter_context(lock)
            # The process that held the lock before may have made it.
            vectors = _read(path, num_images)
            if vectors is not None:
                return vectors
            if path.exists():
                print(f"podium: {path} is damaged and is made again", file=sys.stderr)
            remove_leftovers(path, is_locked=is_locked)
        _build(path, num_images, fill, what)
        vectors = _read(path, num_images)
    assert vectors is not None, "it was just written"
    return vectors


@contextmanager
def _cache_errors(path: Path) -> Iterator[None]:
    """Turn errors of the file system of the cache into errors that the user can fix."""
    try:
        yield
    except OSError as error:
        raise TrialInputError(
            f"the cache folder must be writable; {path}: {error.strerror or error}"
        ) from error


def _read(path: Path, num_images: int) -> FeatureVectors | None:
    """None if there is no such file, or it was cut off or is no array of this length."""
    try:
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    except (FileNotFoundError, ValueError, EOFError):
        return None
    if values.dtype != np.float32 or values.ndim != 2 or len(values) != num_images:
        return None
    return FeatureVectors(values)


class _OfImages(Exception):
    """Carries an OSError of the images through `_cache_errors`."""


def _build(path: Path, num_images: int, fill: Fill, what: str) -> None:
    progress = Progress(what, num_images)
    try:
        with _cache_errors(path), whole_file(path) as file:
            writer = _Writer(path, file, num_images, progress)
            try:
                fill(writer.write)
            except OSError as error:
                raise _OfImages(error) from None
            assert writer.num_written == num_images, "a vector for each image"
    except _OfImages as carried:
        raise carried.args[0] from None
    finally:
        progress.end()


class _Writer:
    """Appends pieces to a file that has begun to be a ``.npy`` array."""

    def __init__(self, path: Path, file: BinaryIO, num_images: int, progress: Progress) -> None:
        self._path = path
        self._file = file
        self._num_images = num_images
        self._progress = progress
        self.num_written = 0

    def write(self, values_BF: npt.NDArray[np.float32]) -> None:
        """Append some vectors.

        Raises:
            TrialInputError: one of them is not finite, or the disk is full.
        """
        num_bad = int((~np.isfinite(values_BF).all(axis=1)).sum())
        if num_bad:
            raise TrialInputError(
                f"the backbone's features must be finite; got NaN or infinity for {num_bad} of "
                f"images {self.num_written + 1} to {self.num_written + len(values_BF)}"
            )
        with _cache_errors(self._path):
            if not self.num_written:
                self._write_header(values_BF.shape[1])
            self._file.write(np.ascontiguousarray(values_BF, dtype="<f4").data)
        self.num_written += len(values_BF)
        self._progress.advance(len(values_BF))

    def _write_header(self, num_features: int) -> None:
        shape = (self._num_images, num_features)
        header = {"descr": "<f4", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self._file, header)
