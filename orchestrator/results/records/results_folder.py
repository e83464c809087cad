"""Checks of a results folder: whether it is still there, and whether it holds links."""

import os

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import contents, exists, list_folders
from orchestrator.results.storage.local_files import not_regular
from orchestrator.results.storage.locations import Place, RemotePath

__all__ = ["is_present", "refuse_linked_folders", "refuse_links"]

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


def refuse_linked_folders(paths: StudyPaths) -> None:
    """Refuse symbolic links right in a results folder, before anything in it is read.

    Those further below are refused where folders are listed and files are opened. The folder
    itself may be a link, and so may its storage.

    Raises:
        CorruptFileError: a file or folder in it is a symbolic link.
    """
    if not isinstance(paths.folder, RemotePath):
        list_folders(paths.folder)


def refuse_links(paths: StudyPaths) -> None:
    """Refuse links, pipes and devices, before anything of a results folder is replaced or deleted.

    Raises:
        CorruptFileError: at any depth, something is neither a file nor a folder.
    """
    if isinstance(paths.folder, RemotePath):
        return
    for name, kind in contents(paths.folder):
        if kind not in ("file", "folder"):
            raise not_regular(f"{paths.folder}/{name}", kind)
