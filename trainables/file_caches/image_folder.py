"""The image files below a folder. No torch."""

from functools import cache
from pathlib import Path

from PIL import Image

from trainables.errors import TrialInputError

__all__ = ["images_below"]

# Formats that Pillow knows by name but cannot decode by itself.
_UNDECODED = frozenset({"BUFR", "EPS", "GRIB", "HDF5", "MPEG", "WMF"})


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


@cache
def _suffixes() -> frozenset[str]:
    return frozenset(
        suffix
        for suffix, kind in Image.registered_extensions().items()
        if kind in Image.OPEN and kind not in _UNDECODED
    )
