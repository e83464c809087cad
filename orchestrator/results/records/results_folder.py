"""Checks of a results folder: whether it is still there, and whether it holds links."""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from orchestrator.results.errors import CorruptFileError
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import exists
from orchestrator.results.storage.local_files import store_errors
from orchestrator.results.storage.locations import Place, RemotePath
from orchestrator.results.storage.transient_errors import with_retries

__all__ = ["is_present", "refuse_links"]

_found: set[tuple[int, Place]] = set()  # remote folders, by process


def is_present(paths: StudyPaths) -> bool:
    """Whether the folder is there, with what makes it a study's.

    Called for every trial, so it is cheap. A local folder is checked every time: it may be a mount
    that went away, and a folder made in its place would hide what was there. A remote one is
    checked once by each process: its bucket does not go away and leave an empty one.

    Raises:
        StoreError: the store does not answer.
    """
    if not isinstance(paths.folder, RemotePath):
        return exists(paths.store)
    key = os.getpid(), paths.folder
    if key not in _found and exists(paths.store):
        _found.add(key)
    return key in _found


def refuse_links(paths: StudyPaths) -> None:
    """Refuse symbolic links in a results folder, before anything of it is replaced or deleted.

    The folder itself may be a link, and so may its storage.

    Raises:
        CorruptFileError: a file or folder in it, or a folder of these, is a symbolic link.
    """
    if isinstance(paths.folder, RemotePath):
        return
    link = with_retries(partial(_first_link, paths.folder))
    if link is not None:
        raise CorruptFileError(
            f"{link} is a symbolic link: podium would change or delete files outside of the "
            "results folder; put what it leads to in its place"
        )


def _first_link(folder: Path) -> str | None:
    with store_errors("list", folder):
        return next(_links(folder, depth=2), None)


def _links(folder: Path, depth: int) -> Iterator[str]:
    """Links in a folder and, where they are folders, further below it."""
    if not folder.is_dir():
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                yield entry.path
            elif depth > 1 and entry.is_dir():
                yield from _links(Path(entry.path), depth - 1)
