"""Removes a results folder, so that a kill at any moment leaves nothing that looks whole."""

from collections.abc import Callable
from pathlib import Path

from orchestrator.results.locks.study_lock import StudyLock, lock_places
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import mark_removed, name_of_any_version
from orchestrator.results.storage.files import (
    refuse_links,
    remove,
    remove_contents,
    remove_folder,
    remove_if_empty,
    stored_files,
)
from orchestrator.results.storage.locations import Place
from podium.errors import PodiumError


def check_removable(folder: Place) -> None:
    """Refuse what is not one results folder and nothing else.

    Raises:
        PodiumError: the folder is a link or no results folder, or holds another results folder.
        CorruptFileError: its ``store.json`` is damaged, or links lie in it.
    """
    paths = StudyPaths(folder)
    if isinstance(folder, Path) and folder.is_symlink():
        raise PodiumError(
            f"{folder} is a link, which podium does not follow to remove anything: name"
            f" {folder.resolve()}, then delete the link"
        )
    name_of_any_version(paths)
    refuse_links(folder, deep=True)
    end = f"/{paths.store.name}"
    inner = next((file.path for file in stored_files(folder) if file.path.endswith(end)), None)
    if inner is not None:
        raise PodiumError(
            f"{folder} holds another results folder, {folder / inner.removesuffix(end)}: move that"
            " elsewhere, or remove it first"
        )


def remove_study(folder: Place, say: Callable[[str], object]) -> None:
    """Delete a results folder and all it holds.

    1. ``store.json`` is replaced by a mark: from this moment on every command refuses the folder.
    2. All else is deleted but the lock, which is held meanwhile.
    3. The lock is released; its files, the mark and the folder are deleted.

    Where that is stopped, the same call deletes the rest.

    Args:
        folder: the results folder.
        say: gets messages on the lock (see `StudyLock`).

    Raises:
        PodiumError: see `check_removable`.
        LockHeldError: the study is running.
        StoreError: something cannot be deleted.
    """
    check_removable(folder)
    paths = StudyPaths(folder)
    with StudyLock(paths, say):
        mark_removed(paths)
        remove_contents(folder, {place.name for place in (paths.store, *lock_places(paths))})
    remove_folder(paths.parts)
    remove_folder(paths.lock_generations)
    remove(paths.lock_guard)
    remove(paths.store)
    remove_if_empty(folder)
