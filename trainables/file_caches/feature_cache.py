"""Features that are computed once per node, in a file. N = images, B = some of them, F = features.

The file is a ``.npy`` array that is written piece by piece, so that no more than a piece of it is
ever in memory.
"""

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from podium.trainables.errors import TrialInputError
from podium.trainables.file_caches.array_cache import read_array
from podium.trainables.file_caches.build_progress import Progress
from podium.trainables.file_caches.built_file import Write, built_once
from podium.trainables.file_caches.feature_vectors import FeatureVectors

Append = Callable[[npt.NDArray[np.float32]], None]


def cached_features(
    path: Path, num_images: int, fill: Callable[[Append], None], *, what: str
) -> FeatureVectors:
    """The vectors in a file, memory-mapped and read-only; computed first if it is not there.

    Args:
        path: path of the file; its name must follow from everything that changes the vectors.
        num_images: N, at least 1.
        fill: appends all vectors, in order, in pieces of shape (B, F).
        what: the work in words, for waiting processes and for the line of progress.

    Raises:
        TrialInputError: the file cannot be written, or a vector is not finite.
    """

    def read(path: Path) -> FeatureVectors | None:
        values = read_array(path)
        is_whole = values is not None and values.ndim == 2 and len(values) == num_images
        if values is None or not is_whole or values.dtype != np.float32:
            return None
        return FeatureVectors(values)

    def build(write: Write) -> None:
        progress = Progress(what, num_images)
        num_written = 0

        def append(values_BF: npt.NDArray[np.float32]) -> None:
            nonlocal num_written
            num_bad = int((~np.isfinite(values_BF).all(axis=1)).sum())
            if num_bad:
                raise TrialInputError(
                    f"the backbone's features must be finite; got NaN or infinity for {num_bad} of"
                    f" images {num_written + 1} to {num_written + len(values_BF)}"
                )
            if not num_written:
                write(_header((num_images, values_BF.shape[1])))
            write(np.ascontiguousarray(values_BF, dtype="<f4").data)
            num_written += len(values_BF)
            progress.advance(len(values_BF))

        try:
            fill(append)
        finally:
            progress.end()
        assert num_written == num_images, "a vector for each image"

    return built_once(path, read, build, doing=what)


def _header(shape: tuple[int, int]) -> bytes:
    """What a ``.npy`` file of this shape begins with."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f4", "fortran_order": False, "shape": shape}
    )
    return header.getvalue()
