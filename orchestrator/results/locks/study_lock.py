"""The lock of a study: one run at a time, or one of each part; a dead run never blocks the next.

A file names its owner and holds a counter that the owner raises every few seconds: see
`held_lock`. `local_lock` and `remote_lock` store it, and make sure that of several simultaneous
runs one gets it.

Runs of parts hold a lock each. Whoever wants the whole study takes its lock and then looks for
those of parts; who runs a part takes that lock and then looks for that of the study. So of two
that want what overlaps at least one sees the other, and is refused.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Self

from orchestrator.results.locks.held_lock import HeldLock
from orchestrator.results.locks.local_lock import LocalLock
from orchestrator.results.locks.lock_owner import LockFile, LockOwner, is_dead
from orchestrator.results.locks.remote_lock import RemoteLock
from orchestrator.results.records.runs import WHOLE, Part
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import list_folders, list_names
from podium.errors import LockHeldError


def lock_owners(paths: StudyPaths) -> dict[Part, LockOwner]:
    """Who runs a study, alive or not: the owner of its lock, and those of the locks of parts.

    Raises:
        CorruptFileError: a lock file is damaged or foreign.
    """
    files = {WHOLE: lock_file(paths), **dict(_part_files(paths))}
    owners = {part: file.look() for part, file in files.items()}
    return {part: owner for part, owner in owners.items() if owner is not None}


class StudyLock(HeldLock):
    """Context manager that holds the lock of one study, or that of a part of it.

    Args:
        paths: paths of the results folder.
        say: see `HeldLock`.
        part: what is locked: by default the whole study.
        heartbeat_seconds: see `HeldLock`.
        watch_seconds: see `HeldLock`.

    Attributes:
        part: what is locked.

    Raises:
        LockHeldError: on entering; another run of the same blocks is alive, and is named.
        StoreError: on entering; the lock cannot be written.
    """

    def __init__(
        self,
        paths: StudyPaths,
        say: Callable[[str], object],
        part: Part = WHOLE,
        *,
        heartbeat_seconds: float = 5.0,
        watch_seconds: float = 60.0,
    ) -> None:
        super().__init__(
            paths.folder,
            lock_file(paths, part),
            _task(part),
            say,
            heartbeat_seconds=heartbeat_seconds,
            watch_seconds=watch_seconds,
        )
        self._paths = paths
        self.part = part

    def __enter__(self) -> Self:
        super().__enter__()
        try:
            self._refuse_overlap()
        except BaseException as error:
            self.__exit__(type(error), error, error.__traceback__)
            raise
        return self

    def others(self) -> Mapping[Part, LockOwner]:
        """Who runs other parts of the study now, as far as it can be seen without waiting."""
        own = self.part
        if own.is_whole:
            return {}
        owners = {
            part: file.look()
            for part, file in _part_files(self._paths)
            if part.of == own.of and part != own
        }
        return {part: it for part, it in owners.items() if it is not None and not is_dead(it)}

    def _refuse_overlap(self) -> None:
        """Refuse to run blocks that another run has; of dead ones take the locks away."""
        held = {
            file: (part, owner)
            for part, file in self._overlapping()
            if (owner := file.look()) is not None
        }
        alive = {file: owner for file, (_, owner) in held.items() if not is_dead(owner)}
        for file, owner in alive.items():
            if owner.machine == self._owner.machine:
                raise LockHeldError(self._overlap(owner, held[file][0]))
        if alive:
            self._watch(alive)
        for file, (part, owner) in held.items():
            refused = file.take(self._owner, owner)
            if refused is not None:
                raise LockHeldError(self._overlap(refused, part))
            file.release(self._owner)

    def _overlapping(self) -> Iterator[tuple[Part, LockFile]]:
        """Locks of runs that may have blocks which this one has: the parts of another number."""
        if not self.part.is_whole:
            yield WHOLE, lock_file(self._paths)
        for part, file in _part_files(self._paths):
            if part.of != self.part.of:
                yield part, file

    def _overlap(self, owner: LockOwner, part: Part) -> str:
        text = self._held_by(owner, _task(part))
        if part.is_whole or self.part.is_whole:
            return text
        return (
            f"{text}. Parts that run at the same time must be of the same number, or their blocks"
            f" overlap: run a part i/{part.of}, not {self.part}"
        )


def _task(part: Part) -> str:
    return "running this study" if part.is_whole else f"running part {part} of this study"


def _part_files(paths: StudyPaths) -> Iterator[tuple[Part, LockFile]]:
    """The locks of parts that were taken before, in order."""
    if isinstance(paths.folder, Path):
        names = [name.removesuffix(".json") for name in list_names(paths.parts, ".json")]
    else:
        names = [folder.name for folder in list_folders(paths.parts)]
    for part in sorted(part for name in names if (part := Part.named(name)) is not None):
        yield part, lock_file(paths, part)


def lock_file(paths: StudyPaths, part: Part = WHOLE) -> LockFile:
    """The lock of a study, or of a part of it."""
    if not part.is_whole:
        return file_in_parts(paths, part.name)
    file, guard = paths.lock, paths.lock_guard
    if isinstance(file, Path) and isinstance(guard, Path):
        return LocalLock(file, guard)
    return RemoteLock(paths.lock_generations)


def file_in_parts(paths: StudyPaths, name: str) -> LockFile:
    """The lock of that name among those of parts."""
    folder = paths.parts
    if isinstance(folder, Path):
        return LocalLock(folder / f"{name}.json", folder / f".{name}.guard")
    return RemoteLock(folder / name)
