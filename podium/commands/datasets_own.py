"""Data sets in code of one's own, or of torchvision, as a folder for each class."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PIL import Image

from podium.errors import PodiumError
from podium.trainables.file_caches.build_progress import Progress
from podium.trainables.importable_code import failure_text, named_object
from podium.trainables.own_files import class_in_file, read_files

_UNSAFE = re.compile(r"[^\w.-]+")


def write_own_set(name: str, options: Mapping[str, object], root: Path) -> None:
    """Write the pictures of a data set of torch as PNG below ``NUMBER.CLASS``.

    Args:
        name: ``package.module:Class`` or ``./mine.py:Class``. Its items begin with a picture, of
            PIL or an array or tensor as torchvision has them, and its class, a number or a text.
            Numbers have names where the data set has ``classes``, as those of torchvision do.
        options: arguments of the class.
        root: the folder to make.

    Raises:
        PodiumError: there is no such class, or it fails, or an item is not of that kind.
    """
    read_files(name, Path.cwd())
    name = class_in_file(name) or name
    made = named_object("data set", name)
    places: dict[str, Path] = {}
    try:
        dataset = made(**options)
        progress = Progress("writing pictures", len(dataset))
        for index in range(len(dataset)):
            picture, label, *_ = dataset[index]
            text = _class_name(label, getattr(dataset, "classes", ()))
            if text not in places:
                places[text] = root / str(len(places))
                places[text].mkdir(parents=True)
            _picture(picture).save(places[text] / f"{index:07d}.png", compress_level=1)
            progress.advance(1)
        progress.end()
    except Exception as error:  # whatever code of others does
        raise PodiumError(f"data set {name}: {failure_text(error, [name])}") from error
    if not places:
        raise PodiumError(f"data set {name} has no items")
    for number, text in enumerate(sorted(places)):
        places[text].rename(root / folder_name(number, text))


def folder_name(number: int, class_name: str) -> str:
    """``00003.a_b`` of a class ``a/b``: the number keeps names apart."""
    return f"{number:05d}.{_UNSAFE.sub('_', class_name)[:80]}"


def _class_name(label: Any, names: Any) -> str:
    label = getattr(label, "item", lambda: label)()  # of a number in a tensor or an array
    if isinstance(label, str):
        return label
    if isinstance(label, bool) or not isinstance(label, int) or label < 0:
        raise TypeError(f"a class is a text or a number from 0; got {label!r}")
    return str(names[label]) if label < len(names) else f"{label:05d}"


def _picture(given: Any) -> Image.Image:
    from torchvision.transforms.functional import to_pil_image  # loads torch

    picture: Image.Image = given if isinstance(given, Image.Image) else to_pil_image(given)
    return picture if picture.mode in ("1", "L", "P", "RGB", "RGBA") else picture.convert("RGB")
