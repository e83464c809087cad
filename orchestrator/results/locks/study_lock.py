"""The lock of a study: one run at a time, and a dead run never blocks the next.

A file names its owner and holds a counter that the owner raises every few seconds. No clock is
compared between machines. Who finds a lock

- of a dead process on this machine takes it over at once;
- of a living process on this machine, stopped or not, is refused;
- of another machine watches its counter: he is refused when it moves, and takes over when it has
  not moved for `watch_seconds`.

On a disk the file is read and replaced under a guard that the operating system frees when its
holder dies; a remote store refuses to replace another version than the one that was read. So of
two runs that see the same dead owner one gets the lock, and an owner that was held up between its
look and its write does not undo what another did meanwhile.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Self, TypeAlias

from orchestrator.results.locks.lock_owner import LockOwner, is_dead, parse_owner, this_process
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import (
    parse_json,
    read_json,
    remove,
    remove_temporaries,
    replace_if,
    to_json,
)
from orchestrator.results.storage.local_files import exclusive
from orchestrator.results.storage.locations import Place
from orchestrator.results.storage.transient_errors import retrying_for
from podium.errors import CorruptFileError, FolderGoneError, LockHeldError, StoreError

_POLLS_PER_WATCH = 50
_GUARD_LIMIT_SECONDS = 10.0
_FREE = {"is_free": True}  # what the last owner leaves in a remote store

Values: TypeAlias = dict[str, Any]


class LockFile:
    """A stored lock. Every method may raise StoreError, and CorruptFileError for a foreign file.

    Args:
        place: the file.
        guard: empty file beside it, which is held while a local lock is read and replaced.

    Attributes:
        place: as given.
    """

    def __init__(self, place: Place, guard: Place) -> None:
        self.place = place
        self._guard = guard

    def look(self) -> LockOwner | None:
        """The owner of the lock; None if it is free."""
        return self._owner(read_json(self.place))

    def take(self, owner: LockOwner, silent: LockOwner | None) -> LockOwner | None:
        """Take the lock if it is free, its owner dead or still ``silent``; else name the owner.

        Raises:
            LockHeldError: another run is taking it at this moment.
        """

        def may_take(found: LockOwner | None) -> bool:
            if found is not None and found != silent and not is_dead(found):
                return False
            remove_temporaries(self.place.parent, self.place.name)  # of a killed owner
            return True

        while not (is_taken := self._replace(asdict(owner), may_take, _GUARD_LIMIT_SECONDS)):
            if is_taken is None:
                folder = self.place.parent
                raise LockHeldError(f"{folder} is being locked by another run; try again")
            if found := self.look():
                return found  # else it was freed meanwhile
        return None

    def beat(self, owner: LockOwner) -> LockOwner | None:
        """Write the owner's heartbeat, unless it lost the lock; the owner of the lock.

        Nothing is written, either, while another process reads a local lock.
        """
        return owner if self._replace(asdict(owner), owner.is_same, 0.0) else self.look()

    def release(self, owner: LockOwner) -> None:
        """Free the lock if it is the owner's.

        If the guard stays held the lock stays: the next run finds its owner dead or, from another
        machine, silent, and takes it over. No result of this run is affected.
        """
        if not isinstance(self._guard, Path):
            self._replace(_FREE, owner.is_same, 0.0)
            return
        with exclusive(self._guard, limit_seconds=_GUARD_LIMIT_SECONDS) as is_alone:
            if is_alone and owner.is_same(self.look()):
                remove(self.place)

    def _replace(
        self, values: Values, may_replace: Callable[[LockOwner | None], bool], limit: float
    ) -> bool | None:
        def is_known(content: bytes | None) -> bool:
            return may_replace(self._owner(parse_json(self.place, content)))

        return replace_if(self.place, to_json(values), self._guard, is_known, limit)

    def _owner(self, values: Values | None) -> LockOwner | None:
        return None if values is None or values == _FREE else parse_owner(values, self.place)


def lock_file(paths: StudyPaths) -> LockFile:
    """The lock of a study."""
    return LockFile(paths.lock, paths.lock_guard)


def lock_owner(paths: StudyPaths) -> LockOwner | None:
    """Who runs a study, alive or not; CorruptFileError for a damaged or foreign lock."""
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
        refused = self._file.take(self._owner, None)
        if refused is not None and refused.machine != self._owner.machine:
            self._watch(refused)
            refused = self._file.take(self._owner, refused)
        if refused is not None:
            raise LockHeldError(
                f"{self._folder} is locked: {refused} is running this study; wait until it ends,"
                " or stop it"
            )
        self._seen_at = _now()
        self._thread.start()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
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

    def _watch(self, owner: LockOwner) -> None:
        """Watch the lock of another machine, until it changes or was silent for long enough."""
        self._say(
            f"{self._file.place} belongs to {owner}, which cannot be seen from here; checking for "
            f"{self._watch_seconds:g} s whether it is alive ..."
        )
        # Polls are counted, not timed: during an outage each waits, and no heartbeat can be seen.
        for _ in range(_POLLS_PER_WATCH):
            time.sleep(self._watch_seconds / _POLLS_PER_WATCH)
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
            found = self._file.beat(self._owner)
            if found is None:
                self._lost = f"this run lost the lock of its study: {self._file.place} was deleted"
            elif found.token != self._owner.token:
                self._lost = f"this run lost the lock of {self._folder} to {found}"
            else:
                self._seen_at = started_at


def _now() -> float:
    """Seconds that also pass while this machine sleeps, where the system counts them."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(clock)
