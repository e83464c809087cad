"""``podium init``: a study file to start from."""

import re
from pathlib import Path
from typing import Annotated

import typer
import yaml

from podium.api.study import load
from podium.arguments.trial_argument import refuse_existing
from podium.errors import PodiumError
from podium.study_template import study_template
from podium.terminal.printing import say
from podium.trainables.network.initial_weights import weights_problem
from podium.trainables.settings.trial_settings import BackboneSettings

_MOST_HOURS = 1.0
_PRETRAINED = BackboneSettings(name="efficientnet_lite0", weights="imagenet")


def command(
    path: Annotated[
        Path, typer.Argument(metavar="[PATH]", help="The file to write.", show_default=True)
    ] = Path("study.yaml"),
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Images, a folder for each class: splits that work for them."
        ),
    ] = None,
) -> None:
    """Write a study file, ready to run. An existing file is left alone.

    With every key and a comment on it; with --data, a study of your images: all of them are read.
    Splits, folds and batches fit their classes, network and trials what this machine does in an
    hour.
    """
    refuse_existing(path)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem).strip("-._") or "study"
    text = study_template(name) if data is None else _of_images(data, name)
    about = text.partition("\nstudy:")[0] if data is not None else ""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise PodiumError(f"{path} cannot be written: {error.strerror}") from None
    for line in about.splitlines()[:-1]:  # the last is about the file
        say(line.removeprefix("# "))
    say(f"Wrote {path}. Next: podium plan {path}, then podium run {path}")


def _of_images(folder: Path, name: str) -> str:
    """The study of the most effort that this machine does in an hour."""
    import torch

    from podium.image_folder_study import ON_GPU, folder_study_texts

    backbone = ON_GPU
    if not torch.cuda.is_available():
        backbone = _PRETRAINED.name
        if problem := weights_problem(_PRETRAINED):
            say(f"The network is conv_small, which knows no pictures yet: {problem}", err=True)
            backbone = "conv_small"
    for text in folder_study_texts(folder.expanduser(), name, backbone):
        hours = load(yaml.safe_load(text)).plan().record["hours"]
        if hours is None or hours <= _MOST_HOURS:
            break
    return text
