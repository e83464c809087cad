"""The readers by the names of their data sets."""

from pathlib import Path
from typing import Protocol

from podium.trainables.dataset_readers import cars196, cub200, folder, in_shop, sop
from podium.trainables.dataset_readers.disk_layout import Layout
from podium.trainables.dataset_readers.image_list import ImageList, Published
from podium.trainables.errors import TrialInputError, unknown_name

_SIDES = ({"train", "test"}, {"train", "query", "gallery"})


class Reader(Protocol):
    """A module: how a data set lies on disk, what was published of it, and how it is read."""

    LAYOUT: Layout

    @property
    def PUBLISHED(self) -> Published | None:
        """Counts; None if none were."""

    def read(self, root: Path, *, allow_partial: bool = False) -> ImageList:
        """The images below a folder, as many as were published.

        Readers take other counts, too. Class ids up to those of "train" are for training, where
        the authors list no sides. ``allow_partial`` leaves out images without a file, and takes
        any counts.

        Raises:
            TrialInputError: something is missing or not as published.
        """


READERS: dict[str, Reader] = {
    "cars196": cars196,
    "cub200": cub200,
    "folder": folder,
    "in_shop": in_shop,
    "sop": sop,
}


def read_images(name: str, root: Path, *, allow_partial: bool = False) -> ImageList:
    """The images of one of `READERS` in the folder it was unpacked to, as its reader reads them.

    Raises:
        TrialInputError: no such data set, or something is missing, not as published or closed to
            the user; or there is nothing to train on, or nothing to test on.
    """
    if name not in READERS:
        raise unknown_name("data set", name, READERS)
    reader = READERS[name]
    try:
        images = reader.read(root, allow_partial=allow_partial)
    except OSError as error:
        raise TrialInputError(
            f"{name}: {error.filename} cannot be read: {error.strerror}"
        ) from error
    if set(images.roles) not in _SIDES:
        raise reader.LAYOUT.wrong(
            "there must be images of the roles train and test, or train, query and gallery; "
            f"got {', '.join(sorted(set(images.roles)))}"
        )
    return images
