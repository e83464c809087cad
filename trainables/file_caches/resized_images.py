"""Images decoded and resized once per node, for all its trials. N = images, H, W = pixels."""

import sys
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import numpy.typing as npt
import PIL
from PIL import features

from trainables.errors import TrialInputError
from trainables.file_caches.atomic_file import remove_leftovers
from trainables.file_caches.decoded_pixels import Pixels
from trainables.file_caches.file_locks import file_lock
from trainables.file_caches.image_files import ImageFiles
from trainables.file_caches.resized_images_build import (
    FORMAT_VERSION,
    build,
    offsets_of,
    read_sizes,
)
from trainables.hashing import digest


class ResizedImages(Pixels):
    """RGB images whose shorter side has one length, memory-mapped from one file.

    Attributes:
        path: the file.
        shorter_side: pixels of the shorter side.
        sizes_N2: height and width of each image, in pixels.
    """

    def __init__(self, path: Path, files: ImageFiles, shorter_side: int) -> None:
        sizes_N2 = read_sizes(path)
        if sizes_N2 is None or len(sizes_N2) != len(files):
            raise TrialInputError(f"{path} is damaged; delete it, and it is made again")
        self.path = path
        self.shorter_side = shorter_side
        self.sizes_N2 = sizes_N2
        self._files = files
        self._offsets = offsets_of(sizes_N2)
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
        return digest([self.shorter_side, self._files.content_hash(indices)])


def evaluation_side(image_size: int, evaluation_crop: float) -> int:
    """Pixels of the shorter side of an image whose centre crop of ``image_size`` is evaluated."""
    return round(image_size / evaluation_crop)


def resized(
    files: ImageFiles, shorter_side: int, cache_folder: Path, num_threads: int | None = None
) -> ResizedImages:
    """The images with their shorter side resized, made first if they are not in the cache.

    Pixels are those of torchvision's ``Resize(shorter_side)`` on the decoded image: bilinear with
    antialiasing, smaller images enlarged, nothing cropped. The cache goes by the content of the
    files, wherever they lie. Concurrent processes wait for one of them to make it; if that one is
    killed, another makes it again. The file appears under its name only when complete.

    Args:
        files: the images.
        shorter_side: length of the shorter side in pixels, at least 1.
        cache_folder: folder of the file, in its subfolder ``resized``.
        num_threads: number of threads that decode; None for a few more than the machine has
            cores.

    Raises:
        TrialInputError: images cannot be decoded, or the file cannot be written: no space, no
            permission.
    """
    if shorter_side < 1:
        raise TrialInputError(f"the shorter side must be at least 1 pixel; got {shorter_side}")
    path = cache_folder / "resized" / f"{_key(files, shorter_side)}-{shorter_side}.rgb"
    if not _is_whole(path, files):
        with ExitStack() as stack:
            is_locked = _enter(stack, path)
            # The process that held the lock before may have made it.
            if not _is_whole(path, files):
                if path.exists():
                    print(f"podium: {path} is damaged and is made again", file=sys.stderr)
                remove_leftovers(path, is_locked=is_locked)
                build(path, files, shorter_side, num_threads)
    return ResizedImages(path, files, shorter_side)


def _enter(stack: ExitStack, path: Path) -> bool:
    """Make the folder and wait for the lock; False where the file system has no locks."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = file_lock(path.with_suffix(".lock"), doing=f"building {path}")
        return stack.enter_context(lock)
    except OSError as error:
        raise TrialInputError(
            f"the cache folder must be writable; {path}: {error.strerror}"
        ) from error


def _key(files: ImageFiles, shorter_side: int) -> str:
    """Hash of all that decides the pixels: files, size, and the versions of the decoders."""
    every = np.arange(len(files))
    versions = [FORMAT_VERSION, PIL.__version__, features.version("jpg")]
    return digest([files.content_hash(every), shorter_side, *versions])


def _is_whole(path: Path, files: ImageFiles) -> bool:
    try:
        sizes_N2 = read_sizes(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise TrialInputError(f"{path} cannot be read: {error.strerror}") from error
    return sizes_N2 is not None and len(sizes_N2) == len(files)
