"""Feature vectors instead of images. N = images, B = some of them, F = features."""

import hashlib
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

# Rows that are read at a time: some MB, of which nothing stays.
_CHUNK = 1024


class FeatureVectors:
    """A vector for each image, in one array, which may be memory-mapped.

    Attributes:
        values_NF: float32 or float16.
    """

    def __init__(self, values_NF: npt.NDArray[np.float32] | npt.NDArray[np.float16]) -> None:
        self.values_NF = values_NF

    def __len__(self) -> int:
        """N."""
        return len(self.values_NF)

    @property
    def num_features(self) -> int:
        """F."""
        return int(self.values_NF.shape[1])

    def rows(self, indices_B: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """The vectors of some images, copied: float32, shape (B, F)."""
        return np.asarray(self.values_NF[indices_B], dtype=np.float32)

    def content_hash(self, indices_B: npt.NDArray[np.int64]) -> str:
        """Hash of the vectors of some images, in their order."""
        hash_ = hashlib.sha256(f"{self.values_NF.dtype} {self.num_features}".encode())
        for chunk in _chunks(indices_B):
            hash_.update(np.ascontiguousarray(self.values_NF[chunk]).data)
        return hash_.hexdigest()

    def first_not_finite(self) -> tuple[int, int] | None:
        """Row and column of the first value that is NaN or infinite; None if all are finite."""
        for chunk in _chunks(np.arange(len(self))):
            finite = np.isfinite(self.values_NF[chunk])
            if not finite.all():
                row, column = np.argwhere(~finite)[0].tolist()
                return int(chunk[0]) + row, column
        return None


def _chunks(indices_B: npt.NDArray[np.int64]) -> Iterator[npt.NDArray[np.int64]]:
    for first in range(0, len(indices_B), _CHUNK):
        yield indices_B[first : first + _CHUNK]
