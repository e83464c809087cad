"""Data sets with the formats and class ids of the published ones, in little, to train on.

The images of a class are stripes of its own colours, width and direction, with noise, so that a
network can learn them. A few are grey, CMYK and, where files may be PNG, transparent.
"""

import colorsys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

from tests.trainables.dataset_readers.trees import (
    write_cars196_combined,
    write_cars196_devkit,
    write_cub200,
    write_in_shop,
    write_sop,
)

KINDS = ("cub200", "cars196", "cars196_devkit", "sop", "in_shop", "folder")


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

    def image(path: Path, place: int) -> None:
        _write_image(path, pictures[place], size)

    def labels(first_test: int) -> list[int]:
        """From 1 on for training, from ``first_test`` on for testing."""
        numbers = [picture.class_number for picture in pictures]
        return [it + 1 if it < classes else it - classes + first_test for it in numbers]

    cars = [f"Make Model {number} 2012" for number in range(1, 197)]
    match kind:
        case "cub200":
            birds = [f"{number:03d}.Bird_{number}" for number in range(1, 201)]
            write_cub200(folder, labels(first_test=101), birds, image)
        case "cars196":
            write_cars196_combined(folder, labels(first_test=99), cars, image)
        case "cars196_devkit":
            write_cars196_devkit(folder, labels(first_test=99), cars, image)
        case "sop":
            write_sop(folder, labels(first_test=11_319), 11_319, image)
        case "in_shop":
            write_in_shop(
                folder, [_clothes(it, classes, images_per_class) for it in pictures], image
            )
        case _:
            _folder(folder, pictures, size)
    return folder


def _clothes(picture: _Picture, classes: int, images_per_class: int) -> tuple[str, str]:
    item = f"id_{picture.class_number + 1:08d}"
    side = "query" if picture.number < images_per_class // 2 else "gallery"
    status = "train" if picture.class_number < classes else side
    return f"WOMEN/Dresses/{item}/{picture.number:02d}_1_front.jpg", status


def _folder(root: Path, pictures: list[_Picture], size: int) -> None:
    """Of class folders alone the second half by name is for testing."""
    for picture in pictures:
        is_transparent = picture == (2, 0)
        name = f"{picture.number}.{'png' if is_transparent else 'jpg'}"
        path = root / f"stripes {picture.class_number:03d}" / name
        _write_image(path, picture, size, mode="RGBA" if is_transparent else None)


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
