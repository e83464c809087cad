"""Image files: finding, hashing and decoding them. N = images, H, W = height and width."""

import errno
import hashlib
import io
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps, UnidentifiedImageError

from podium.trainables.errors import TrialInputError
from podium.trainables.file_caches.decoded_pixels import Pixels
from podium.trainables.file_caches.file_hashes import file_hashes

# What the system says of a file that is not as the user thinks. All else, such as a network file
# system that is away for a moment, is no fault of the data and passed on as it is.
_USERS = frozenset({errno.ENOENT, errno.EACCES, errno.EPERM, errno.EISDIR, errno.ENOTDIR})

# Longer side over shorter one. Resized to a shorter side of 256, such an image has 200 MB.
_LARGEST_RATIO = 1000

# Formats that Pillow knows by name but cannot decode by itself.
_UNDECODED = frozenset({"BUFR", "EPS", "GRIB", "HDF5", "MPEG", "WMF"})


HEIF_SUFFIXES = frozenset({".heic", ".heif", ".hif"})
"""Of photographs that Pillow decodes where the extra ``heic`` is installed."""

Transparency = Literal["drop", "white", "black"]
"""What is seen behind a transparent pixel: its own colour, or this one."""


class ImageFiles(Pixels):
    """Image files of any kind and size, as RGB, decoded each time they are read.

    Attributes:
        paths: paths of the N files.
        hashes: SHA-256 of the bytes of each file, in hexadecimal digits, as `file_hashes` has it.
        transparency: what is seen behind transparent pixels.
        upright: whether photographs are turned as their EXIF says.

    Raises:
        TrialInputError: a file is not there or may not be read.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        cache_folder: Path,
        transparency: Transparency = "drop",
        upright: bool = False,
    ) -> None:
        self.paths = tuple(paths)
        self.hashes = file_hashes(paths, cache_folder)
        self.transparency: Transparency = transparency
        self.upright = upright

    def __len__(self) -> int:
        """N."""
        return len(self.paths)

    def image(self, index: int) -> npt.NDArray[np.uint8]:
        """One image, (H, W, 3), as `decoded` has it."""
        return np.asarray(self.decoded(index))

    def decoded(self, index: int) -> Image.Image:
        """One image as RGB; see `rgb_of`.

        Raises:
            TrialInputError: the file is not there, has changed, or cannot be decoded as RGB.
        """
        content = self.content(index)
        try:
            return rgb_of(content, self.transparency, self.upright)
        except ValueError as error:
            raise TrialInputError(f"{self.paths[index]} cannot be decoded: {error}") from error

    def content(self, index: int) -> bytes:
        """The bytes of one file, those that were hashed: results are kept under their hash.

        Raises:
            TrialInputError: the file is missing, may not be read or has changed.
        """
        path = self.paths[index]
        try:
            content = path.read_bytes()
        except OSError as error:
            if is_of_system(error):
                raise
            raise TrialInputError(f"{path} cannot be read: {error.strerror}") from error
        if hashlib.sha256(content).hexdigest() != self.hashes[index]:
            raise TrialInputError(f"{path} has changed since it was hashed")
        return content

    def content_hash(self, indices: npt.NDArray[np.int64]) -> str:
        """See `Pixels.content_hash`. Where the files lie does not matter."""
        seen = "" if self.transparency == "drop" else self.transparency
        content = hashlib.sha256(f"{seen}{' upright' if self.upright else ''}".encode())
        for index in indices:
            content.update(bytes.fromhex(self.hashes[index]))
        return content.hexdigest()


def images_below(folder: Path) -> tuple[Path, ...]:
    """Every file below ``folder`` with the suffix of a format that Pillow decodes.

    Sorted by their paths below the folder. Hidden files, hidden folders and what lies behind links
    to folders are left out.

    Raises:
        TrialInputError: there is no such folder, or no image in it.
    """
    if not folder.is_dir():
        raise TrialInputError(f"there is no folder {folder}")
    found = [
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in _suffixes()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and path.is_file()
    ]
    if not found:
        raise TrialInputError(f"there is no image below {folder}")
    return tuple(sorted(found, key=lambda path: path.relative_to(folder).as_posix()))


def is_of_system(error: OSError) -> bool:
    """Whether a file system fails, rather than a file being not there, closed or damaged."""
    return error.errno is not None and error.errno not in _USERS


def rgb_of(
    content: bytes, transparency: Transparency = "drop", upright: bool = False
) -> Image.Image:
    """The pixels of an image file as RGB.

    Grey becomes three equal channels. Transparency is dropped, as Pillow's ``convert`` does, or
    laid on white or black.
    Of 16 bits the upper 8 are kept, as Pillow does for RGB; its ``convert`` would clip grey.
    A camera's note on how it was held (EXIF) is followed in HEIC and TIFF. In other files it is
    followed on request only: the loaders that published results come from do not.

    Raises:
        ValueError: says why not: it is no whole image, its numbers have no known range, or one
            side is so much longer than the other that it would fill the memory once resized.
    """
    is_heif = content[4:8] == b"ftyp"  # or AVIF, which Pillow itself decodes
    try:
        if is_heif:
            _learn_heif()
        with Image.open(io.BytesIO(content)) as image:
            _assert_proportions(*image.size)
            if upright:
                ImageOps.exif_transpose(image, in_place=True)
            if transparency != "drop" and image.has_transparency_data:
                return _laid_on(transparency, image)
            return _rgb(image)
    except MemoryError:
        raise
    except UnidentifiedImageError:
        reason = "its image format is unknown"
        if is_heif and find_spec("pillow_heif") is None:
            reason = "a HEIC photograph needs pillow-heif: pip install 'podium[heic]'"
    except Exception as error:  # decoders meet damage with errors of all kinds
        reason = str(error) or type(error).__name__
    raise ValueError(reason)


def _learn_heif() -> None:
    """Let Pillow decode HEIC, if the library for it is installed."""
    with suppress(ImportError):
        from pillow_heif import register_heif_opener

        register_heif_opener()


def _assert_proportions(width: int, height: int) -> None:
    if max(width, height) > _LARGEST_RATIO * min(width, height):
        raise ValueError(
            f"one side may be at most {_LARGEST_RATIO} times as long as the other; it has "
            f"{width} x {height} pixels"
        )


def _rgb(image: Image.Image) -> Image.Image:
    if image.mode == "F":
        raise ValueError("its pixels are floating-point numbers, whose range is not known")
    if image.mode == "I" or image.mode.startswith("I;16"):
        pixels_HW = np.asarray(image)
        if pixels_HW.min() < 0 or pixels_HW.max() > 65535:
            raise ValueError(
                "its pixels are whole numbers beyond 16 bits, whose range is not known"
            )
        return Image.fromarray((pixels_HW >> 8).astype(np.uint8)).convert("RGB")
    if isinstance(image.info.get("transparency"), bytes):
        image = image.convert("RGBA")  # Pillow warns of a palette with it that becomes RGB
    return image.convert("RGB")


def _laid_on(colour: str, image: Image.Image) -> Image.Image:
    opaque = Image.new("RGBA", image.size, colour)
    opaque.alpha_composite(image.convert("RGBA"))
    return opaque.convert("RGB")


def is_see_through(image: Image.Image) -> bool:
    """Whether a pixel of an image is transparent, be it a little."""
    if not image.has_transparency_data:
        return False
    return bool(np.asarray(image.convert("RGBA"))[..., 3].min() < 255)


@cache
def _suffixes() -> frozenset[str]:
    return HEIF_SUFFIXES | frozenset(
        suffix
        for suffix, kind in Image.registered_extensions().items()
        if kind in Image.OPEN and kind not in _UNDECODED
    )
