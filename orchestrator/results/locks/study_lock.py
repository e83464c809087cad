"""The lock of a study: one run at a time, and a dead run never blocks the next.

A file names its owner and holds a counter that the owner raises every few seconds. `local_lock`
and `remote_lock` store it, and make sure that of several simultaneous runs one gets it. No clock
is compared between machines. Who finds a lock

- of a dead process on this machine takes it over at once;
- of a living process on this machine, stopped or not, is refused;
- of another machine watches its counter: he is refused when it moves, and takes over when it has
  not moved for `watch_seconds`.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from orchestrator.results.locks.local_lock import LocalLock
from orchestrator.results.locks.lock_owner import LockFile, LockOwner, this_process
from orchestrator.results.locks.remote_lock import RemoteLock
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.transient_errors import retrying_for
from podium.errors import CorruptFileError, FolderGoneError, LockHeldError, StoreError

_POLLS_PER_WATCH = 50


def lock_file(paths: StudyPaths) -> LockFile:
    """The lock of a study."""
    file, guard = paths.lock, paths.lock_guard
    if isinstance(file, Path) and isinstance(guard, Path):
        return LocalLock(file, guard)
    return RemoteLock(paths.lock_generations)


def lock_owner(paths: StudyPaths) -> LockOwner | None:
    """Who runs a study, alive or not: the owner of its lock.

    Raises:
        CorruptFileError: the lock file is damaged or foreign.
    """
    return lock_file(paths).look()


class StudyLock:
    """Context manager that holds the lock of a study.

    The owner may lose the lock, by force or because another machine saw no heartbeat for too
    long: `raise_if_lost` says so, and the run must then stop without writing.

    Args:
        paths: paths of the results folder.
        say: gets messages on what takes time or fails: waiting, heartbeats that cannot be written,
            a lost lock. Called from the heartbeat's thread too.
        heartbeat_seconds: time between two heartbeats.
        watch_seconds: time for which another machine's counter must not move before the lock is
            taken over.

    Raises:
        LockHeldError: on entering; the owner is alive, and is named.
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
        self._folder = paths.folder
        self._file = lock_file(paths)
        self._say = say
        self._heartbeat_seconds = heartbeat_seconds
        self._watch_seconds = watch_seconds
        self._owner = this_process()
        self._lost: str | None = None
        self._seen_at = _now()
        self._beating = threading.Lock()
        self._released = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="study-lock", daemon=True)

    def __enter__(self) -> Self:
        self._acquire()
        self._seen_at = _now()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._released.set()
        self._thread.join()
        if error is None:
            self._file.release(self._owner)
            return
        # The error that ended the run must reach the user, without a delay by retries.
        with suppress(StoreError, CorruptFileError), retrying_for(0):
            self._file.release(self._owner)

    def raise_if_lost(self) -> None:
        """Raise LockHeldError if another run has the lock now, or it was deleted.

        If no heartbeat was written for long, as when this process was stopped or the store did
        not answer, another run may hold the lock by now: then the store is read first.

        Raises:
            StoreError: the store had to be read and does not answer.
        """
        if self._lost is None and _now() - self._seen_at > self._watch_seconds / 2:
            self._raise_counter()
        if self._lost is not None:
            raise LockHeldError(self._lost)

    def _acquire(self) -> None:
        refused = self._file.take(self._owner, None)
        if refused is None:
            return
        if refused.machine == self._owner.machine:
            raise LockHeldError(self._held_by(refused))
        self._watch(refused)
        refused = self._file.take(self._owner, refused)
        if refused is not None:
            raise LockHeldError(self._held_by(refused))

    def _watch(self, owner: LockOwner) -> None:
        """Watch the lock of another machine, until it changes or was silent for long enough."""
        self._say(
            f"{self._file.place} belongs to {owner}, which cannot be seen from here; checking for "
            f"{self._watch_seconds:g} s whether it is alive ..."
        )
        pause = self._watch_seconds / _POLLS_PER_WATCH
        # Polls are counted, not timed: during an outage each waits, and no heartbeat can be seen.
        for _ in range(_POLLS_PER_WATCH):
            time.sleep(pause)
            if self._file.look() != owner:
                return

    def _beat(self) -> None:
        is_failing = False
        while not self._released.wait(self._heartbeat_seconds):
            try:
                with retrying_for(0):  # the next beat is soon enough
                    self._raise_counter()
            except FolderGoneError:
                return  # which ends the run, and is said there
            except (StoreError, CorruptFileError) as error:
                if not is_failing:
                    self._say(f"the heartbeat of the study's lock fails: {error}")
                is_failing = True
                continue
            if is_failing:
                self._say("the heartbeat of the study's lock is written again")
            is_failing = False
            if self._lost is not None:
                self._say(self._lost)
                return

    def _raise_counter(self) -> None:
        with self._beating:
            started_at = _now()
            self._owner = replace(self._owner, heartbeat=self._owner.heartbeat + 1)
            is_ours, other = self._file.beat(self._owner)
            if is_ours:
                self._seen_at = started_at
            elif other:
                self._lost = f"this run lost the lock of {self._folder} to {other}"
            else:
                self._lost = f"this run lost the lock of its study: {self._file.place} was deleted"

    def _held_by(self, owner: LockOwner) -> str:
        return (
            f"{self._folder} is locked: {owner} is running this study; wait until it ends, or"
            " stop it"
        )


def _now() -> float:
    """Seconds that also pass while this machine sleeps, where the system counts them."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(clock)
