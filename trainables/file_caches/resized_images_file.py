"""The one file that holds all images of a data set resized. N = images.

Pixels come first, image after image without gaps, each row by row with three bytes a pixel. Then
follow height and width of each image (uint32, N x 2) and last a fixed-size end: a mark, N and the
SHA-256 of heights and widths. A file that was cut off has no such end.
"""

import hashlib
import struct
from pathlib import Path

import numpy as np
import numpy.typing as npt

__all__ = ["FORMAT_VERSION", "as_index", "content_bytes", "file_bytes", "offsets_of", "read_sizes"]

FORMAT_VERSION = 1  # raised whenever a change here or in how images are resized changes the file

_MARK = b"podium resized\x00\x01"
_END = struct.Struct("<16sQ32s")
_NUM_CHANNELS = 3


def offsets_of(sizes_N2: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
    """Where each image begins, in bytes, and where the last one ends: shape (N + 1,)."""
    areas = sizes_N2.astype(np.int64).prod(axis=1)
    return np.concatenate([[0], np.cumsum(areas * _NUM_CHANNELS)]).astype(np.int64)


def content_bytes(sizes_N2: npt.NDArray[np.uint32]) -> int:
    """Bytes of the pixels."""
    return int(offsets_of(sizes_N2)[-1])


def file_bytes(sizes_N2: npt.NDArray[np.uint32]) -> int:
    """Bytes of the whole file."""
    return content_bytes(sizes_N2) + len(as_index(sizes_N2))


def as_index(sizes_N2: npt.NDArray[np.uint32]) -> bytes:
    """What follows the pixels."""
    sizes = np.ascontiguousarray(sizes_N2, dtype="<u4").tobytes()
    return sizes + _END.pack(_MARK, len(sizes_N2), hashlib.sha256(sizes).digest())


def read_sizes(path: Path) -> npt.NDArray[np.uint32] | None:
    """Height and width of each image, (N, 2); None if the file is not whole.

    Raises:
        OSError: the file is not there or cannot be read.
    """
    num_bytes = path.stat().st_size
    with path.open("rb") as file:
        if num_bytes < _END.size:
            return None
        file.seek(-_END.size, 2)
        mark, num_images, expected = _END.unpack(file.read(_END.size))
        first = num_bytes - _END.size - 8 * num_images
        if mark != _MARK or first < 0:
            return None
        file.seek(first)
        sizes = file.read(8 * num_images)
    if hashlib.sha256(sizes).digest() != expected:
        return None
    sizes_N2 = np.frombuffer(sizes, dtype="<u4").reshape(-1, 2).astype(np.uint32)
    return sizes_N2 if file_bytes(sizes_N2) == num_bytes else None
