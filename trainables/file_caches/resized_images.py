"""Images decoded and resized once per node, for all its trials. N = images, H, W = pixels.

They are in one file:

    pixels of all images | heights and widths | mark, N, SHA-256 of heights and widths
"""

import hashlib
import struct
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import PIL
from PIL import Image, features

from podium.trainables.errors import TrialInputError
from podium.trainables.file_caches.build_progress import in_threads
from podium.trainables.file_caches.built_file import Write, built_once
from podium.trainables.file_caches.decoded_pixels import Pixels
from podium.trainables.file_caches.image_files import ImageFiles
from podium.trainables.hashing import digest

_FORMAT_VERSION = 1  # raised whenever a change here changes the file
_MARK = b"podium resized\x00\x01"
_END = struct.Struct("<16sQ32s")
_NUM_SHOWN = 20


class ResizedImages(Pixels):
    """RGB images whose shorter side has one length, memory-mapped from one file.

    Attributes:
        sizes_N2: height and width of each image, in pixels.
    """

    def __init__(
        self, path: Path, files: ImageFiles, shorter_side: int, sizes_N2: npt.NDArray[np.int64]
    ) -> None:
        self.path = path
        self.sizes_N2 = sizes_N2
        self._shorter_side = shorter_side
        self._files = files
        self._offsets = np.concatenate([[0], np.cumsum(3 * sizes_N2.prod(axis=1))])
        self._bytes = np.memmap(path, dtype=np.uint8, mode="r")

    def __len__(self) -> int:
        """N."""
        return len(self.sizes_N2)

    def image(self, index: int) -> npt.NDArray[np.uint8]:
        """One image, (H, W, 3), read-only: pages of the file, without a copy."""
        pixels = self._bytes[self._offsets[index] : self._offsets[index + 1]]
        return np.asarray(pixels).reshape(*self.sizes_N2[index], 3)

    def content_hash(self, indices: npt.NDArray[np.int64]) -> str:
        """See `Pixels.content_hash`."""
        return digest([self._shorter_side, self._files.content_hash(indices)])


def evaluation_side(image_size: int, evaluation_crop: float) -> int:
    """Pixels of the shorter side of an image whose centre crop of ``image_size`` is evaluated."""
    return round(image_size / evaluation_crop)


def resized_size(width: int, height: int, shorter_side: int) -> tuple[int, int]:
    """Width and height once the shorter side has a length; the longer is rounded down.

    That is how torchvision's ``Resize`` rounds.
    """
    longer = int(shorter_side * max(width, height) / min(width, height))
    return (shorter_side, longer) if width <= height else (longer, shorter_side)


def resized(
    files: ImageFiles, shorter_side: int, cache_folder: Path, num_threads: int | None = None
) -> ResizedImages:
    """The images with their shorter side resized, made first if they are not in the cache.

    Pixels are those of torchvision's ``Resize(shorter_side)`` on the decoded image: bilinear with
    antialiasing, smaller images enlarged, nothing cropped. The cache goes by the content of the
    files, wherever they lie.

    Args:
        files: the images.
        shorter_side: length of the shorter side in pixels, at least 1.
        cache_folder: folder of the file, in its subfolder ``resized``.
        num_threads: see `in_threads`.

    Raises:
        TrialInputError: images cannot be decoded, or the file cannot be written: no space, no
            permission.
        OSError: the file system of the images fails.
    """
    if shorter_side < 1:
        raise TrialInputError(f"the shorter side must be at least 1 pixel; got {shorter_side}")
    # All that decides the pixels: files, size, and the versions of the decoders.
    versions = [_FORMAT_VERSION, PIL.__version__, features.version("jpg")]
    key = digest([files.content_hash(np.arange(len(files))), shorter_side, *versions])
    path = cache_folder / "resized" / f"{key}-{shorter_side}.rgb"
    read = partial(_read_sizes, num_images=len(files))
    build = partial(_build, files=files, shorter_side=shorter_side, num_threads=num_threads)
    sizes_N2 = built_once(path, read, build, doing=f"building {path}")
    return ResizedImages(path, files, shorter_side, sizes_N2)


def _read_sizes(path: Path, num_images: int) -> npt.NDArray[np.int64] | None:
    """Height and width of each image, (N, 2); None if the file is not whole."""
    num_bytes = path.stat().st_size
    with path.open("rb") as file:
        if num_bytes < _END.size:
            return None
        file.seek(-_END.size, 2)
        mark, number, expected = _END.unpack(file.read(_END.size))
        first = num_bytes - _END.size - 8 * num_images
        if mark != _MARK or number != num_images or first < 0:
            return None
        file.seek(first)
        sizes = file.read(8 * num_images)
    sizes_N2 = np.frombuffer(sizes, dtype="<u4").reshape(-1, 2).astype(np.int64)
    is_whole = hashlib.sha256(sizes).digest() == expected
    return sizes_N2 if is_whole and 3 * sizes_N2.prod(axis=1).sum() == first else None


def _build(write: Write, files: ImageFiles, shorter_side: int, num_threads: int | None) -> None:
    """Write the whole file; images that cannot be decoded are named once all were tried."""

    def pixels(index: int) -> Image.Image | str:
        try:
            image = files.decoded(index)
        except TrialInputError as error:
            return str(error)
        return image.resize(resized_size(*image.size, shorter_side), Image.Resampling.BILINEAR)

    what = f"resizing {len(files):,} images"
    sizes: list[tuple[int, int]] = []
    broken: list[str] = []
    for made in in_threads(pixels, range(len(files)), what=what, num_threads=num_threads):
        if isinstance(made, str):
            broken.append(made)
        else:
            sizes.append((made.height, made.width))
            write(made.tobytes())
    if broken:
        more = [f"and {len(broken) - _NUM_SHOWN} more"] if len(broken) > _NUM_SHOWN else []
        lines = "\n".join(f"  {line}" for line in [*broken[:_NUM_SHOWN], *more])
        raise TrialInputError(f"{len(broken)} of {len(files)} images cannot be read:\n{lines}")
    index = np.array(sizes, dtype="<u4").tobytes()
    write(index + _END.pack(_MARK, len(files), hashlib.sha256(index).digest()))
