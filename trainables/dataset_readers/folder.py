"""Any images, with a directory for each class."""

import os
from collections.abc import Iterator
from pathlib import Path

from trainables.dataset_readers.disk_layout import Layout
from trainables.dataset_readers.image_list import ImageList, LabelledImage, Published, Role

PUBLISHED: Published | None = None

_SUFFIXES = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp"})
_SIDES: tuple[tuple[Role, ...], ...] = (("train", "query", "gallery"), ("train", "test"))

LAYOUT = Layout(
    name="folder",
    tree="""\
    ROOT/CLASS/*.jpg         the first half of the classes by name is for training; or
    ROOT/train/CLASS/*.jpg   and
    ROOT/test/CLASS/*.jpg    or, in place of test, query and gallery""",
    source=f"Images are files that end in {', '.join(sorted(_SUFFIXES))}",
)


def read(
    root: Path, *, published: Published | None = PUBLISHED, allow_partial: bool = False
) -> ImageList:
    """The classes of ``train`` and ``test``, or the halves of all classes in order of name.

    Of an odd number of classes, one more is for testing. Hidden files and files that are no
    images by their names are left out.

    Args:
        root: the folder with the classes, or with ``train`` and ``test``, or with ``train``,
            ``query`` and ``gallery``.
        published: counts that must be met, if any.
        allow_partial: leave out classes without images, and take any counts.

    Raises:
        TrialInputError: there are no classes, one has no images, or one is on both sides; or there
            are ``test``, ``query`` and ``gallery``.
    """
    LAYOUT.require_folder(root)
    classes = _class_folders(root)
    found = {folder: _files(folder) for folder in classes}
    empty = [str(folder) for folder, files in found.items() if not files]
    if empty and not allow_partial:
        raise LAYOUT.missing(
            f"class folders without images: {len(empty)} of {len(found)}, such as {empty[0]} "
            "(--allow-partial, in a study allow_partial: true, leaves them out)"
        )
    images = [
        LabelledImage(file, folder.name, classes[folder])
        for folder, files in found.items()
        for file in files
    ]
    return LAYOUT.image_list(images, published, allow_partial=allow_partial)


def _class_folders(root: Path) -> dict[Path, Role]:
    """Each class folder and what its images are for.

    Raises:
        TrialInputError: there is ``test`` beside ``query`` and ``gallery``.
    """
    if all((root / role).is_dir() for roles in _SIDES for role in roles):
        raise LAYOUT.wrong(
            f"there must be either test or query and gallery beside train; {root} has them all"
        )
    for roles in _SIDES:
        if all((root / role).is_dir() for role in roles):
            return {folder: role for role in roles for folder in _folders(root / role)}
    folders = _folders(root)
    middle = len(folders) // 2
    return {folder: "train" if place < middle else "test" for place, folder in enumerate(folders)}


def _folders(parent: Path) -> list[Path]:
    return sorted(parent / entry.name for entry in _visible(parent) if entry.is_dir())


def _files(folder: Path) -> list[Path]:
    return sorted(
        folder / entry.name
        for entry in _visible(folder)
        if Path(entry.name).suffix.lower() in _SUFFIXES and entry.is_file()
    )


def _visible(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Entries that know what they are: a look at each of 100,000 files is slow on NFS."""
    with os.scandir(folder) as entries:
        yield from (entry for entry in entries if entry.name[0] != ".")
