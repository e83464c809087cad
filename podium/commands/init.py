"""``podium init``: a commented study file to start from."""

import re
from pathlib import Path
from typing import Annotated

import typer

from podium.errors import PodiumError
from podium.study_template import study_template
from podium.terminal.printing import say


def command(
    path: Annotated[
        Path, typer.Argument(metavar="[PATH]", help="The file to write.", show_default=True)
    ] = Path("study.yaml"),
) -> None:
    """Write a commented study file, ready to run. An existing file is left alone."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem).strip("-._") or "study"
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(study_template(name))
    except FileExistsError:
        raise PodiumError(f"{path} exists already and is not overwritten") from None
    except OSError as error:
        raise PodiumError(f"{path} cannot be written: {error.strerror}") from None
    say(f"Wrote {path}. Next: podium plan {path}, then podium run {path}")
