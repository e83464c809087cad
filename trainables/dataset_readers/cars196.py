"""Cars196 in both layouts: the first half of the classes for training, the second for testing."""

import zlib
from pathlib import Path
from typing import Any

import numpy as np

from podium.trainables.dataset_readers.disk_layout import Layout
from podium.trainables.dataset_readers.image_list import (
    ImageList,
    LabelledImage,
    Published,
    RoleCounts,
)

PUBLISHED: Published = {"train": RoleCounts(98, 8054), "test": RoleCounts(98, 8131)}

_DEVKIT_FILES = {
    "cars_train": "cars_train_annos.mat",
    "cars_test": "cars_test_annos_withlabels.mat",
}

LAYOUT = Layout(
    name="cars196",
    tree="""\
    cars196/
      cars_annos.mat
      car_ims/000001.jpg
or
    stanford_cars/
      devkit/cars_meta.mat
      devkit/cars_train_annos.mat
      devkit/cars_test_annos_withlabels.mat   or beside devkit
      cars_train/00001.jpg
      cars_test/00001.jpg""",
    source=(
        "From https://ai.stanford.edu/~jkrause/cars/car_dataset.html or, since that has been down "
        "for years, from a mirror that has the labels of all images"
    ),
)


def read(
    root: Path, *, published: Published = PUBLISHED, allow_partial: bool = False
) -> ImageList:
    """Classes 1 to 98 for training, 99 to 196 for testing, whatever the official test flag.

    The root is the folder with ``car_ims`` or ``cars_train``, or the one above; see `Reader.read`.
    """
    names = ("cars196", "stanford_cars", "CARS196")
    images_folder = LAYOUT.find(root, names, "car_ims", "cars_train")
    read_layout = _combined if images_folder.name == "car_ims" else _devkit
    found = read_layout(images_folder.parent)
    last_train = published["train"].classes
    images = [
        LabelledImage(path, name, "train" if class_id <= last_train else "test")
        for path, class_id, name in found
    ]
    return LAYOUT.image_list(images, published, allow_partial=allow_partial)


def _combined(folder: Path) -> list[tuple[Path, int, str]]:
    """Path, class id and class name of each image of the layout with all images together."""
    file = _first([folder / "cars_annos.mat", folder / "devkit" / "cars_annos.mat"])
    content = _contents(file)
    names = _class_names(content, file)
    return [
        (folder / "car_ims" / Path(path).name, class_id, _name(names, class_id, file))
        for path, class_id in _annotations(content, file, "relative_im_path")
    ]


def _devkit(folder: Path) -> list[tuple[Path, int, str]]:
    """The same of the layout that parts images as the classification split does."""
    devkits = [folder / "devkit", folder / "car_devkit" / "devkit", folder]
    meta = _first([devkit / "cars_meta.mat" for devkit in devkits])
    names = _class_names(_contents(meta), meta)
    images = []
    for images_name, file_name in _DEVKIT_FILES.items():
        file = _first([devkit / file_name for devkit in devkits])
        outer = folder / images_name
        # Mirrors have been seen that unpack each archive into a folder of its own name.
        inner = outer / images_name if (outer / images_name).is_dir() else outer
        images += [
            (inner / path, class_id, _name(names, class_id, file))
            for path, class_id in _annotations(_contents(file), file, "fname")
        ]
    return images


def _first(files: list[Path]) -> Path:
    for file in files:
        if file.exists():
            return file
    raise LAYOUT.missing(f"{files[0]} is missing")


def _contents(file: Path) -> dict[str, Any]:
    # Only this reader needs scipy, and workers do without it.
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    known = (OSError, ValueError, TypeError, NotImplementedError, MatReadError, zlib.error)
    try:
        content: dict[str, Any] = loadmat(file, squeeze_me=True)
    except known as error:
        raise LAYOUT.wrong(f"{file} cannot be read as a MATLAB file: {error}") from error
    return content


def _class_names(content: dict[str, Any], file: Path) -> list[str]:
    if "class_names" not in content:
        raise LAYOUT.wrong(f"{file} must have class_names")
    names = [str(name) for name in np.atleast_1d(content["class_names"])]
    if len(set(names)) < len(names):
        raise LAYOUT.wrong(f"class_names of {file} must be unique")
    return names


def _annotations(content: dict[str, Any], file: Path, field: str) -> list[tuple[str, int]]:
    """Image name and class id, read by the names of the fields: their order varies."""
    rows = np.atleast_1d(content.get("annotations", ()))
    fields = rows.dtype.names or ()
    if not {field, "class"} <= set(fields):
        raise LAYOUT.wrong(
            f"{file} must have annotations with {field} and class; got "
            f"{', '.join(fields) or 'none'}"
        )
    try:
        return [(str(row[field]), int(row["class"])) for row in rows]
    except (TypeError, ValueError) as error:
        raise LAYOUT.wrong(f"every class of {file} must be a whole number: {error}") from error


def _name(names: list[str], class_id: int, file: Path) -> str:
    if not 1 <= class_id <= len(names):
        raise LAYOUT.wrong(f"classes of {file} must be in 1..{len(names)}; got {class_id}")
    return names[class_id - 1]
