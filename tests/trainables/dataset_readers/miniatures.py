"""Data sets with the formats and class ids of the published ones, in little, to train on.

The images of a class are stripes of its own colours, width and direction, with noise, so that a
network can learn them. A few are grey, CMYK and, where files may be PNG, transparent.
"""

import colorsys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image
from scipy.io import savemat

from tests.trainables.dataset_readers.trees import cell, struct, write_lines


class _Picture(NamedTuple):
    """One image: the number of its class among all, and its own number in it."""

    class_number: int
    number: int


def make_tree(
    kind: str, folder: Path, *, classes: int = 6, images_per_class: int = 4, size: int = 48
) -> Path:
    """Write a data set below ``folder`` and return the root to read it from.

    Its counts are not the published ones, so that it is read with ``allow_partial``.

    Args:
        kind: one of `KINDS`.
        folder: made if it is not there.
        classes: how many there are for training, and as many more for testing.
        images_per_class: of In-Shop's test classes the first half are queries, the others gallery.
        size: the shorter side in pixels; the longer is up to half as long again.
    """
    pictures = [
        _Picture(class_number, number)
        for class_number in range(2 * classes)
        for number in range(images_per_class)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    KINDS[kind](folder, pictures, classes, size)
    return folder


def _cub200(root: Path, pictures: list[_Picture], classes: int, size: int) -> None:
    folder = root / "CUB_200_2011"
    names = {number: f"{number:03d}.Bird_{number}" for number in range(1, 201)}
    images, labels = [], []
    for place, picture in enumerate(pictures, 1):
        class_id = _class_id(picture, classes, first_test=101)
        path = f"{names[class_id]}/Bird_{class_id}_{picture.number:04d}_{place}.jpg"
        _write_image(folder / "images" / path, picture, size)
        images.append(f"{place} {path}")
        labels.append(f"{place} {class_id}")
    write_lines(folder / "images.txt", images)
    write_lines(folder / "image_class_labels.txt", labels)
    write_lines(folder / "classes.txt", [f"{number} {name}" for number, name in names.items()])


def _cars196(root: Path, pictures: list[_Picture], classes: int, size: int) -> None:
    folder = root / "cars196"
    rows = []
    for place, picture in enumerate(pictures, 1):
        name = f"car_ims/{place:06d}.jpg"
        _write_image(folder / name, picture, size)
        class_id = _class_id(picture, classes, first_test=99)
        rows.append((name, 1, 2, 30, 40, class_id, place % 2))
    fields = ("relative_im_path", "bbox_x1", "bbox_y1", "bbox_x2", "bbox_y2", "class", "test")
    content = {"annotations": struct(fields, rows), "class_names": _car_names()}
    savemat(folder / "cars_annos.mat", content)


def _cars196_devkit(root: Path, pictures: list[_Picture], classes: int, size: int) -> None:
    folder = root / "stanford_cars"
    (folder / "devkit").mkdir(parents=True)
    savemat(folder / "devkit" / "cars_meta.mat", {"class_names": _car_names()})
    fields = ("bbox_x1", "bbox_y1", "bbox_x2", "bbox_y2", "class", "fname")
    files = {"cars_train": "cars_train_annos", "cars_test": "cars_test_annos_withlabels"}
    for half, (images, annotations) in enumerate(files.items()):
        rows = []
        for place, picture in enumerate(pictures[half::2], 1):
            _write_image(folder / images / f"{place:05d}.jpg", picture, size)
            class_id = _class_id(picture, classes, first_test=99)
            rows.append((1, 2, 30, 40, class_id, f"{place:05d}.jpg"))
        content = {"annotations": struct(fields, rows)}
        savemat(folder / "devkit" / f"{annotations}.mat", content)


def _sop(root: Path, pictures: list[_Picture], classes: int, size: int) -> None:
    folder = root / "Stanford_Online_Products"
    lists = {"Ebay_train.txt": [], "Ebay_test.txt": []}
    for place, picture in enumerate(pictures, 1):
        class_id = _class_id(picture, classes, first_test=11_319)
        path = f"chair_final/{111085122870 + class_id}_{picture.number}.JPG"
        _write_image(folder / path, picture, size)
        file = "Ebay_train.txt" if picture.class_number < classes else "Ebay_test.txt"
        lists[file].append(f"{place} {class_id} 4 {path}")
    for file, lines in lists.items():
        write_lines(folder / file, ["image_id class_id super_class_id path", *lines])


def _in_shop(root: Path, pictures: list[_Picture], classes: int, size: int) -> None:
    folder = root / "In-shop Clothes Retrieval Benchmark"
    num_queries = (1 + max(picture.number for picture in pictures)) // 2
    lines = []
    for picture in pictures:
        item = f"id_{picture.class_number + 1:08d}"
        path = f"WOMEN/Dresses/{item}/{picture.number:02d}_1_front.jpg"
        _write_image(folder / "Img" / "img" / path, picture, size)
        side = "query" if picture.number < num_queries else "gallery"
        status = "train" if picture.class_number < classes else side
        lines.append(f"img/{path}    {item} {status}")
    header = [str(len(lines)), "image_name item_id evaluation_status"]
    write_lines(folder / "Eval" / "list_eval_partition.txt", [*header, *lines])


def _folder(root: Path, pictures: list[_Picture], classes: int, size: int) -> None:
    del classes  # of class folders alone the second half by name is for testing
    for picture in pictures:
        is_transparent = picture == (2, 0)
        name = f"{picture.number}.{'png' if is_transparent else 'jpg'}"
        path = root / f"stripes {picture.class_number:03d}" / name
        _write_image(path, picture, size, mode="RGBA" if is_transparent else None)


KINDS: dict[str, Callable[[Path, list[_Picture], int, int], None]] = {
    "cub200": _cub200,
    "cars196": _cars196,
    "cars196_devkit": _cars196_devkit,
    "sop": _sop,
    "in_shop": _in_shop,
    "folder": _folder,
}


def _class_id(picture: _Picture, classes: int, *, first_test: int) -> int:
    """From 1 on for training, from ``first_test`` on for testing."""
    number = picture.class_number
    return number + 1 if number < classes else number - classes + first_test


def _write_image(path: Path, picture: _Picture, size: int, *, mode: str | None = None) -> None:
    odd_modes = {(0, 1): "L", (1, 0): "CMYK"}
    image = Image.fromarray(_stripes(picture, size)).convert(mode or odd_modes.get(picture, "RGB"))
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path)


def _stripes(picture: _Picture, size: int) -> np.ndarray:
    """Every third image is upright, the others lie."""
    generator = np.random.default_rng(picture)
    sides = [size, size + int(generator.integers(0, size // 2 + 1))]
    rows, columns = np.mgrid[: sides[picture.number % 3 == 0], : sides[picture.number % 3 != 0]]
    share = picture.class_number * 0.618034  # the golden ratio keeps any number of classes apart
    direction, period = np.pi * share, size / (3 + picture.class_number % 4)
    along = columns * np.cos(direction) + rows * np.sin(direction)
    wave = 0.5 + 0.5 * np.sin(2 * np.pi * (along / period + generator.random()))
    colours = [colorsys.hsv_to_rgb((share + turn) % 1, 0.8, 0.9) for turn in (0, 0.3)]
    pixels = wave[..., None] * colours[0] + (1 - wave[..., None]) * colours[1]
    noisy = 255 * pixels + generator.normal(0, 12, pixels.shape)
    return noisy.clip(0, 255).astype(np.uint8)


def _car_names():
    return cell([f"Make Model {number} 2012" for number in range(1, 197)])
