"""Data sets of the Hugging Face hub, and of torch, as a folder for each class."""

import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PIL import Image

from podium.analysis.wording import counted
from podium.errors import PodiumError
from podium.terminal.printing import say
from podium.trainables.file_caches.build_progress import Progress, in_threads
from podium.trainables.importable_code import failure_text, named_object
from podium.trainables.own_files import read_named

_NOT_OF_PNG = ("CMYK", "HSV", "LAB", "YCbCr")
_UNSAFE = re.compile(r"[^\w.-]+")


def write_hub_set(name: str, label: str | None, root: Path) -> None:
    """Write the pictures of all splits, with the bytes that they have, below ``NUMBER.CLASS``.

    Splits are put together, since those of the hub share their classes: the data set ``folder``
    halves these. Pictures without a class are left out, which is said.

    Args:
        name: as ``datasets.load_dataset`` takes it.
        label: column of the class; None for the only one of type ``ClassLabel``.
        root: the folder to make.

    Raises:
        PodiumError: the package ``datasets`` is missing, it cannot load the data set, or there is
            not one column of pictures and one of classes.
    """
    try:
        import datasets
    except ImportError as error:
        raise PodiumError(
            "data sets of the hub need: pip install 'podium[huggingface]'"
        ) from error
    try:
        splits = datasets.load_dataset(name)
        rows = datasets.concatenate_datasets(list(splits.values()))
    except (OSError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise PodiumError(f"datasets cannot load {name!r}: {reason}") from error
    say(f"{name}, by the package datasets: {', '.join(splits)} together")
    picture = _column(rows.features, datasets.Image, "an image", None)
    label = _column(rows.features, datasets.ClassLabel, "a ClassLabel", label)
    folders = _folders(rows, label)
    rows = rows.cast_column(picture, datasets.Image(decode=False))
    for folder in folders.values():
        (root / folder).mkdir(parents=True)

    def write(index: int) -> bool:
        row = rows[index]
        if row[label] not in folders:
            return False
        content = row[picture]["bytes"] or Path(row[picture]["path"]).read_bytes()
        with Image.open(io.BytesIO(content)) as image:
            suffix = "jpg" if image.format == "JPEG" else str(image.format).lower()
        (root / folders[row[label]] / f"{index:07d}.{suffix}").write_bytes(content)
        return True

    written = sum(in_threads(write, range(len(rows)), what="writing pictures"))
    if written < len(rows):
        say(f"Left out: {counted(len(rows) - written, 'picture')} without a class.")


def _column(features: Any, kind: type, article: str, given: str | None) -> str:
    if given is not None and given in features:
        return given
    found: list[str] = [name for name, feature in features.items() if isinstance(feature, kind)]
    if given is None and len(found) == 1:
        return found[0]
    wrong = f"there is no column {given!r}" if given else f"{len(found)} columns are {article}"
    advice = "" if article == "an image" else ": name that of the class by --label"
    raise PodiumError(f"{wrong} among {', '.join(features)}{advice}")


def _folders(rows: Any, label: str) -> dict[object, str]:
    """Value of a class -> its folder, whose number keeps names apart; nothing for no class."""
    values = sorted(value for value in rows.unique(label) if value not in (None, -1))
    text = getattr(rows.features[label], "int2str", str)
    return {value: _folder_name(number, text(value)) for number, value in enumerate(values)}


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
    name = read_named(name, Path.cwd())
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
        places[text].rename(root / _folder_name(number, text))


def _folder_name(number: int, class_name: str) -> str:
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
    if not isinstance(given, Image.Image):
        from torch import Tensor
        from torchvision.transforms.functional import to_pil_image

        if isinstance(given, Tensor):
            low, high = float(given.min()), float(given.max())
            most = 1 if given.is_floating_point() else 255
            if not 0 <= low <= high <= most:  # it would wrap around
                raise ValueError(
                    f"a picture has values from 0 to {most}; got {low:g} to {high:g}: give it"
                    " before it is normalised"
                )
        given = to_pil_image(given)
    picture: Image.Image = given
    return picture.convert("RGB") if picture.mode in _NOT_OF_PNG else picture
