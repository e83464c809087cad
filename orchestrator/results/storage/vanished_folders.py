"""Results folders that are in use, and that no write makes again once they vanished.

Writers make folders that are missing. Where a whole results folder was deleted, renamed or
unmounted in the middle of a run, that would begin it anew in silence, and hide what was there.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orchestrator.results.storage.locations import Place
from podium.errors import FolderGoneError

_marks: list[Path] = []


@contextmanager
def never_made_again(mark: Place) -> Iterator[None]:
    """While the block runs, this process writes beside and below ``mark`` only if that is there.

    Args:
        mark: a file that the folder always has. A remote one changes nothing: there are no
            folders in object stores, and buckets are not made by writing.
    """
    if not isinstance(mark, Path):
        yield
        return
    _marks.append(mark)
    try:
        yield
    finally:
        _marks.remove(mark)


def check_not_vanished(path: Place) -> None:
    """Refuse a folder in use that is gone.

    Args:
        path: the folder, or a file or folder below it.

    Raises:
        FolderGoneError: it is gone.
    """
    for mark in _marks:
        # The look comes first: to compare two paths takes ten times as long.
        if not mark.exists() and isinstance(path, Path) and path.is_relative_to(mark.parent):
            raise FolderGoneError(
                f"{mark.parent} is gone: it no longer has a {mark.name}. Restore it, then run"
                " the same command to continue"
            )
