"""The lock of a study: one run at a time; a dead run never blocks the next.

A file names its owner and holds a counter that the owner raises every few seconds: see
`held_lock`. `local_lock` and `remote_lock` store it, and make sure that of several simultaneous
runs one gets it.
"""

from collections.abc import Callable
from pathlib import Path

from orchestrator.results.locks.held_lock import HeldLock
from orchestrator.results.locks.local_lock import LocalLock
from orchestrator.results.locks.lock_owner import LockFile, LockOwner
from orchestrator.results.locks.remote_lock import RemoteLock
from orchestrator.results.records.store_paths import StudyPaths


def lock_owner(paths: StudyPaths) -> LockOwner | None:
    """Who runs a study, alive or not: the owner of its lock.

    Raises:
        CorruptFileError: the lock file is damaged or foreign.
    """
    return lock_file(paths).look()


class StudyLock(HeldLock):
    """Context manager that holds the lock of one study.

    Args:
        paths: paths of the results folder.
        say: see `HeldLock`.
        heartbeat_seconds: see `HeldLock`.
        watch_seconds: see `HeldLock`.

    Raises:
        LockHeldError: on entering; another run of the study is alive, and is named.
        StoreError: on entering; the lock cannot be written.
    """

    def __init__(
        self,
        paths: StudyPaths,
        say: Callable[[str], object],
        *,
        heartbeat_seconds: float = 5.0,
        watch_seconds: float = 60.0,
    ) -> None:
        super().__init__(
            paths.folder,
            lock_file(paths),
            "running this study",
            say,
            heartbeat_seconds=heartbeat_seconds,
            watch_seconds=watch_seconds,
        )


def lock_file(paths: StudyPaths) -> LockFile:
    """The lock of a study."""
    file, guard = paths.lock, paths.lock_guard
    if isinstance(file, Path) and isinstance(guard, Path):
        return LocalLock(file, guard)
    return RemoteLock(paths.lock_generations)
