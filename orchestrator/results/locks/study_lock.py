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
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any, Self

from orchestrator.results.locks.lock_owner import LockOwner, is_dead, parse_owner, this_process
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import (
    parse_json,
    read_record,
    remove_temporaries,
    replace_if,
    to_json,
)
from orchestrator.results.storage.transient_errors import retrying_for
from podium.errors import CorruptFileError, FolderGoneError, LockHeldError, StoreError

_POLLS_PER_WATCH = 50
_GUARD_LIMIT_SECONDS = 10.0
_FREE = {"is_free": True}  # what the last owner leaves


def lock_owner(paths: StudyPaths) -> LockOwner | None:
    """Who runs a study, alive or not; CorruptFileError for a damaged or foreign lock."""
    return _owner(paths, read_record(paths.lock))


def _owner(paths: StudyPaths, content: bytes | None) -> LockOwner | None:
    values = parse_json(paths.lock, content)
    return None if values in (None, _FREE) else parse_owner(values or {}, paths.lock)


def _replace(
    paths: StudyPaths,
    values: Mapping[str, Any],
    may_replace: Callable[[LockOwner | None], bool],
    limit_seconds: float,
) -> bool | None:
    """Write the lock if its owner may be replaced; None if another process reads it meanwhile."""

    def is_known(content: bytes | None) -> bool:
        return may_replace(_owner(paths, content))

    return replace_if(paths.lock, to_json(values), paths.lock_guard, is_known, limit_seconds)


def take(paths: StudyPaths, owner: LockOwner, silent: LockOwner | None = None) -> LockOwner | None:
    """Take a lock if it is free, its owner dead or still ``silent``; else name the owner.

    Raises:
        LockHeldError: another run is taking it at this moment.
        StoreError: it cannot be written.
        CorruptFileError: the file is damaged or foreign.
    """

    def may_take(found: LockOwner | None) -> bool:
        if found is not None and found != silent and not is_dead(found):
            return False
        remove_temporaries(paths.folder, paths.lock.name)  # of a killed owner
        return True

    while not (is_taken := _replace(paths, asdict(owner), may_take, _GUARD_LIMIT_SECONDS)):
        if is_taken is None:
            raise LockHeldError(f"{paths.folder} is being locked by another run; try again")
        if found := lock_owner(paths):
            return found  # else it was freed meanwhile
    return None


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
        self._paths = paths
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
        refused = take(self._paths, self._owner)
        if refused is not None and refused.machine != self._owner.machine:
            self._watch(refused)
            refused = take(self._paths, self._owner, refused)
        if refused is not None:
            raise LockHeldError(
                f"{self._paths.folder} is locked: {refused} is running this study; wait until it"
                " ends, or stop it"
            )
        self._seen_at = _now()
        self._thread.start()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._released.set()
        self._thread.join()
        # If it stays locked, the next run finds its owner dead or silent, and takes it over. What
        # ended the run must reach the user, without a delay by retries.
        with suppress(StoreError, CorruptFileError), retrying_for(0):
            _replace(self._paths, _FREE, self._owner.is_same, _GUARD_LIMIT_SECONDS)

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
            f"{self._paths.lock} belongs to {owner}, which cannot be seen from here; checking for "
            f"{self._watch_seconds:g} s whether it is alive ..."
        )
        # Polls are counted, not timed: during an outage each waits, and no heartbeat can be seen.
        for _ in range(_POLLS_PER_WATCH):
            time.sleep(self._watch_seconds / _POLLS_PER_WATCH)
            if lock_owner(self._paths) != owner:
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
            # Nothing is written while another process reads a local lock.
            is_written = _replace(self._paths, asdict(self._owner), self._owner.is_same, 0.0)
            found = self._owner if is_written else lock_owner(self._paths)
            if found is None:
                self._lost = f"this run lost the lock of its study: {self._paths.lock} was deleted"
            elif found.token != self._owner.token:
                self._lost = f"this run lost the lock of {self._paths.folder} to {found}"
            else:
                self._seen_at = started_at


def _now() -> float:
    """Seconds that also pass while this machine sleeps, where the system counts them."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(clock)
