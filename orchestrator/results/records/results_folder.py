"""Whether a results folder is still there."""

import os

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import exists
from orchestrator.results.storage.locations import Place, RemotePath

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
