"""Studies and published tables that come with podium, which commands take by name."""

from pathlib import Path
from typing import TypeVar

from podium.errors import PodiumError
from podium.orchestrator.results.storage.locations import Place
from podium.trainables.errors import did_you_mean

_FOLDER = Path(__file__).parents[1] / "studies"

_Given = TypeVar("_Given", bound=Place)


def or_shipped(place: _Given) -> _Given | Path:
    """What an argument names: the file or folder there, else what podium ships by that name.

    The name is that of a file in ``podium/studies`` without its ending, as in ``quickstart``. A
    file or folder of one's own goes before. Paths that are more than a name, and names with an
    ending, are returned as they are, whether or not something is there.

    Raises:
        PodiumError: nothing is there, and podium ships nothing by that name.
    """
    if not isinstance(place, Path) or place.suffix or len(place.parts) != 1 or _exists(place):
        return place
    shipped = {file.stem: file for file in _FOLDER.glob("*")}
    if place.name in shipped:
        return shipped[place.name]
    raise PodiumError(
        "what is read must be a file, a results folder, or a study or table that podium ships"
        f" (all: ls {_FOLDER}); got {place}, which does not exist"
        f"{did_you_mean(place.name, shipped)}"
    )


def is_shipped(path: Path) -> bool:
    """Whether a file is one of those, beside which nothing is to be written."""
    return path.parent == _FOLDER


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # such as a name that is too long: whoever reads it says so
        return True
