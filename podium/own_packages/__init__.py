"""podium's four other packages are found beside it, whatever else is called as they are.

Their names are common words, and Python looks first in the folder that it runs in, where there may
be a file ``analysis.py`` or a folder ``trainables``. `podium` calls `find_first` when it is
imported. So one rule holds for the command line, for notebooks and for Ray's workers: in a process
that has imported podium, the four names are podium's, and code of one's own cannot have them.

This module is imported before all others, so it imports next to nothing.
"""

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

_NAMES = ("analysis", "orchestrator", "search_spaces", "trainables")
_FOLDER = Path(__file__).parents[2]


class _BesidePodium:
    """Finds the four packages in the folder that holds podium, and nothing else."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The package of that name beside podium; None lets other finders look for it."""
        return PathFinder.find_spec(name, [str(_FOLDER)]) if name in _NAMES else None


class FindsFirst:
    """A base of classes that are sent to other processes by value.

    There a base is imported before whatever else a class needs, and podium with it.
    """


def find_first() -> None:
    """Let this process find podium's packages before all others of their names.

    Raises:
        ImportError: another module of such a name has been imported already; it names the file.
    """
    for name in _NAMES:
        loaded = sys.modules.get(name)
        if loaded is not None and not _is_beside_podium(loaded):
            raise ImportError(
                f"podium has a package named {name}, and {_place(loaded)} was imported as {name}"
                " before it: rename that, or import podium first if nothing here needs that",
                name=name,
                path=_place(loaded),
            )
    sys.meta_path.insert(0, _BesidePodium)


def call(function: Callable[..., object], *arguments: object) -> object:
    """``function(*arguments)``, for processes that are sent this function by its name.

    They import podium for it, before the modules that function and arguments come from.
    """
    return function(*arguments)


def _is_beside_podium(module: ModuleType) -> bool:
    return Path(_place(module)).resolve() == (_FOLDER / module.__name__ / "__init__.py").resolve()


def _place(module: ModuleType) -> str:
    """The file of a module; of a package without ``__init__.py`` its folder."""
    return module.__file__ or next(iter(module.__path__))
