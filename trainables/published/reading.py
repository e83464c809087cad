"""The readers by the names of their data sets."""

from pathlib import Path
from typing import Protocol

from trainables.errors import TrialInputError, unknown_name
from trainables.published import cars196, cub200, folder, in_shop, sop
from trainables.published.image_list import ImageList

__all__ = ["READERS", "read_images"]


class _Reader(Protocol):
    def __call__(self, root: Path, *, allow_partial: bool = False) -> ImageList: ...


READERS: dict[str, _Reader] = {
    "cars196": cars196.read,
    "cub200": cub200.read,
    "folder": folder.read,
    "in_shop": in_shop.read,
    "sop": sop.read,
}


def read_images(name: str, root: Path, *, allow_partial: bool = False) -> ImageList:
    """The images of a data set, all there and as many as were published.

    Args:
        name: one of `READERS`.
        root: where it was unpacked.
        allow_partial: leave out images without a file, and take any counts.

    Raises:
        TrialInputError: no such data set, or something is missing, not as published or closed to
            the user.
    """
    if name not in READERS:
        raise unknown_name("data set", name, READERS)
    try:
        return READERS[name](root, allow_partial=allow_partial)
    except OSError as error:
        raise TrialInputError(
            f"{name}: {error.filename} cannot be read: {error.strerror}"
        ) from error
