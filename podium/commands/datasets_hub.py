"""Data sets of the Hugging Face hub, or of a folder in its format, as a folder for each class."""

import io
from pathlib import Path
from typing import Any

from PIL import Image

from podium.analysis.wording import counted
from podium.commands.datasets_own import folder_name
from podium.errors import PodiumError
from podium.terminal.printing import say
from podium.trainables.file_caches.build_progress import in_threads


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
    return {value: folder_name(number, text(value)) for number, value in enumerate(values)}
