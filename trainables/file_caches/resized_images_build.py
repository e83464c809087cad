"""The file of all resized images of a data set: building it, and its index.

    pixels of all images | heights and widths | mark, N, SHA-256 of heights and widths

N = images, H, W = pixels.
"""

import hashlib
import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from trainables.errors import TrialInputError
from trainables.file_caches.atomic_file import whole_file
from trainables.file_caches.build_progress import in_threads
from trainables.file_caches.image_files import ImageFiles, decode_rgb, is_of_system

FORMAT_VERSION = 1  # raised whenever a change here or in how images are resized changes the file

_NUM_SHOWN = 20

_MARK = b"podium resized\x00\x01"
_END = struct.Struct("<16sQ32s")
_NUM_CHANNELS = 3


def resized_size(width: int, height: int, shorter_side: int) -> tuple[int, int]:
    """Width and height once the shorter side has a length; the longer is rounded down.

    That is how torchvision's ``Resize`` rounds.
    """
    longer = int(shorter_side * max(width, height) / min(width, height))
    return (shorter_side, longer) if width <= height else (longer, shorter_side)


def build(path: Path, files: ImageFiles, shorter_side: int, num_threads: int | None) -> None:
    """Decode and resize all images and write the file.

    Args:
        path: path of the file to write; its folder must exist.
        files: the images.
        shorter_side: length of the shorter side of resized images, in pixels.
        num_threads: number of threads that decode; None for a few more than the machine has
            cores.

    Raises:
        TrialInputError: images cannot be decoded, or the file cannot be written.
        OSError: the file system of the images fails.
    """
    sizes_N2 = _sizes(files, shorter_side, num_threads)
    _assert_space(path, _file_bytes(sizes_N2))
    try:
        with whole_file(path) as file:
            write = _writer(file.fileno(), path)
            _fill(write, files, sizes_N2, num_threads)
            write(_index(sizes_N2), _content_bytes(sizes_N2))
    except _SourceError as error:
        raise error.cause from None
    except OSError as error:
        raise _unwritable(path, error) from error


def offsets_of(sizes_N2: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
    """Where each image begins, in bytes, and where the last one ends: shape (N + 1,)."""
    areas = sizes_N2.astype(np.int64).prod(axis=1)
    return np.concatenate([[0], np.cumsum(areas * _NUM_CHANNELS)]).astype(np.int64)


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
    return sizes_N2 if _file_bytes(sizes_N2) == num_bytes else None


def _content_bytes(sizes_N2: npt.NDArray[np.uint32]) -> int:
    """Number of bytes of the pixels."""
    return int(offsets_of(sizes_N2)[-1])


def _file_bytes(sizes_N2: npt.NDArray[np.uint32]) -> int:
    """Number of bytes of the whole file."""
    return _content_bytes(sizes_N2) + len(_index(sizes_N2))


def _index(sizes_N2: npt.NDArray[np.uint32]) -> bytes:
    """The index that follows the pixels."""
    sizes = np.ascontiguousarray(sizes_N2, dtype="<u4").tobytes()
    return sizes + _END.pack(_MARK, len(sizes_N2), hashlib.sha256(sizes).digest())


class _SourceError(Exception):
    """The system fails to read an image, which is no fault of the cache folder."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(str(cause))
        self.cause = cause


def _sizes(
    files: ImageFiles, shorter_side: int, num_threads: int | None
) -> npt.NDArray[np.uint32]:
    """Height and width of each resized image, from the heads of files; 0, 0 if one has none.

    Raises:
        OSError: the file system of the images fails.
    """

    def size(path: Path) -> tuple[int, int]:
        try:
            with path.open("rb") as file, Image.open(file) as image:
                width, height = resized_size(*image.size, shorter_side)
        except Exception as error:  # decoders meet damage with errors of all kinds
            if isinstance(error, OSError) and is_of_system(error):
                raise
            return 0, 0  # decoding will find out what is wrong
        return height, width

    what = f"reading the sizes of {len(files):,} images"
    sizes = in_threads(size, files.paths, what=what, num_threads=num_threads)
    return np.array(sizes, dtype=np.uint32).reshape(-1, 2)


def _assert_space(path: Path, needed: int) -> None:
    free = shutil.disk_usage(path.parent).free
    if needed > free:
        raise TrialInputError(
            f"the resized images need {needed:,} bytes of disk space; {path.parent} has"
            f" {free:,}. XDG_CACHE_HOME may name a folder with more, or training.cache be none,"
            " which decodes images again each time"
        )


def _writer(descriptor: int, path: Path) -> Callable[[bytes, int], None]:
    def write(content: bytes, offset: int) -> None:
        rest = memoryview(content)
        while rest:
            try:
                count = os.pwrite(descriptor, rest, offset)
            except OSError as error:
                raise _unwritable(path, error) from error
            rest, offset = rest[count:], offset + count

    return write


def _fill(
    write: Callable[[bytes, int], None],
    files: ImageFiles,
    sizes_N2: npt.NDArray[np.uint32],
    num_threads: int | None,
) -> None:
    """Write all pixels.

    Raises:
        TrialInputError: images cannot be decoded; raised once all were tried.
    """
    offsets = offsets_of(sizes_N2)

    def copy(index: int) -> str | None:
        """Write one image; returns why it cannot be decoded, or None."""
        try:
            pixels = _resized_pixels(files, index, tuple(sizes_N2[index].tolist()))
        except TrialInputError as error:
            return str(error)
        except OSError as error:
            raise _SourceError(error) from error
        write(pixels, int(offsets[index]))
        return None

    what = f"resizing {len(files):,} images"
    reasons = in_threads(copy, range(len(files)), what=what, num_threads=num_threads)
    broken = [reason for reason in reasons if reason is not None]
    if broken:
        more = [f"and {len(broken) - _NUM_SHOWN} more"] if len(broken) > _NUM_SHOWN else []
        lines = "\n".join(f"  {line}" for line in [*broken[:_NUM_SHOWN], *more])
        raise TrialInputError(f"{len(broken)} of {len(files)} images cannot be read:\n{lines}")


def _resized_pixels(files: ImageFiles, index: int, size: tuple[int, int]) -> bytes:
    path = files.paths[index]
    image = decode_rgb(files.content(index), path)
    height, width = size
    if not height or resized_size(*image.size, min(size)) != (width, height):
        raise TrialInputError(f"{path} gives another size in its header than its pixels have")
    pixels = image.resize((width, height), Image.Resampling.BILINEAR)
    return pixels.tobytes()


def _unwritable(path: Path, error: OSError) -> TrialInputError:
    return TrialInputError(f"the cache folder must be writable; {path}: {error.strerror or error}")
