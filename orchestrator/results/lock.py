"""The lock of a study: one run at a time, and a dead run never blocks the next.

``lock.json`` names its owner and holds a counter that the owner raises every few seconds. The
clock of no machine is asked. A run that finds the file

- of a dead process on this machine takes it over at once;
- of a living process on this machine, stopped or not, is refused;
- of another machine watches the counter: it is refused when the counter moves, and takes over
  when it has not moved for `watch_seconds`.

Reading and replacing the file happens under a guard that the operating system frees when its
holder dies, so of two runs that see the same dead owner one gets the lock.
"""

import os
import platform
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from types import TracebackType
from typing import Self

from orchestrator.results.errors import CorruptFileError, LockHeldError, StoreError
from orchestrator.results.files import exclusive, put_json, read_json, remove
from orchestrator.results.paths import StudyPaths
from orchestrator.results.process import machine_id, process_start

__all__ = ["LockOwner", "StudyLock"]

_GUARD_LIMIT_SECONDS = 10.0
_POLLS_PER_WATCH = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class LockOwner:
    """What ``lock.json`` holds.

    Attributes:
        machine: equal for processes that see each other's ids.
        process_start: when the process started, so that a later process with the same id is
            not taken for it.
        token: random, new for each run.
        heartbeat: raised by the owner while it lives.
    """

    host: str
    machine: str
    pid: int
    process_start: str
    token: str
    heartbeat: int

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


_FIELDS = {field.name for field in fields(LockOwner)}


class StudyLock:
    """Context manager that holds the lock of one study.

    The owner may lose the lock, by force or because another machine saw no heartbeat for too
    long: `raise_if_lost` says so, and the run must then stop without writing.

    Args:
        paths: the results folder.
        say: told what takes time or goes wrong: waiting, heartbeats that cannot be written, a
            lost lock. Called from the heartbeat's thread too.
        heartbeat_seconds: between two heartbeats.
        watch_seconds: how long another machine's counter must stand still.

    Raises:
        LockHeldError: on entering; another run is alive, and is named.
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
        self._owner = _this_process()
        self._lost: str | None = None
        self._released = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="study-lock", daemon=True)

    def __enter__(self) -> Self:
        self._acquire()
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
        with exclusive(self._paths.lock_guard, limit_seconds=_GUARD_LIMIT_SECONDS) as is_alone:
            if is_alone and self._is_ours():
                remove(self._paths.lock)

    def raise_if_lost(self) -> None:
        """Raise LockHeldError if somebody else has the lock now, or it was deleted."""
        if self._lost is not None:
            raise LockHeldError(self._lost)

    def _acquire(self) -> None:
        refused = self._take_or_name_owner(None)
        if refused is None:
            return
        if refused.machine == self._owner.machine:
            raise LockHeldError(self._held_by(refused))
        self._watch(refused)
        refused = self._take_or_name_owner(refused)
        if refused is not None:
            raise LockHeldError(self._held_by(refused))

    def _take_or_name_owner(self, silent: LockOwner | None) -> LockOwner | None:
        """Take the lock if it is free, its owner dead or still ``silent``; else name the owner."""
        with exclusive(self._paths.lock_guard, limit_seconds=_GUARD_LIMIT_SECONDS) as is_alone:
            if not is_alone:
                raise LockHeldError(
                    f"{self._paths.folder} is being locked by another run; try again"
                )
            found = self._read()
            if found is not None and found != silent and not self._is_dead(found):
                return found
            put_json(self._paths.lock, asdict(self._owner))
            return None

    def _watch(self, owner: LockOwner) -> None:
        self._say(
            f"{self._paths.lock} belongs to {owner}, which cannot be seen from here; watching for "
            f"{self._watch_seconds:g} s whether it is alive ..."
        )
        deadline = time.monotonic() + self._watch_seconds
        while time.monotonic() < deadline:
            time.sleep(self._watch_seconds / _POLLS_PER_WATCH)
            if self._read() != owner:
                return

    def _is_dead(self, owner: LockOwner) -> bool:
        is_near = owner.machine == self._owner.machine
        return is_near and process_start(owner.pid) != owner.process_start

    def _beat(self) -> None:
        is_failing = False
        while not self._released.wait(self._heartbeat_seconds):
            try:
                self._raise_counter()
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
        with exclusive(self._paths.lock_guard, limit_seconds=self._heartbeat_seconds) as is_alone:
            if not is_alone:
                return  # somebody is looking at the lock; the next beat is soon enough
            if not self._is_ours():
                owner = self._read()
                self._lost = (
                    f"this run lost the lock of {self._paths.folder} to {owner}"
                    if owner
                    else f"this run lost the lock of its study: {self._paths.lock} was deleted"
                )
                return
            self._owner = replace(self._owner, heartbeat=self._owner.heartbeat + 1)
            put_json(self._paths.lock, asdict(self._owner))

    def _is_ours(self) -> bool:
        found = self._read()
        return found is not None and found.token == self._owner.token

    def _read(self) -> LockOwner | None:
        values = read_json(self._paths.lock)
        if values is None:
            return None
        if values.keys() != _FIELDS:
            raise CorruptFileError(
                f"{self._paths.lock} is no lock: it must hold {', '.join(sorted(_FIELDS))}; "
                "delete it if no run of the study is alive"
            )
        return LockOwner(**values)

    def _held_by(self, owner: LockOwner) -> str:
        return (
            f"{self._paths.folder} is locked: {owner} is running this study; wait until it ends, "
            "or stop it"
        )


def _this_process() -> LockOwner:
    start = process_start(os.getpid())
    assert start is not None, "this process is alive"
    return LockOwner(
        host=platform.node(),
        machine=machine_id(),
        pid=os.getpid(),
        process_start=start,
        token=secrets.token_hex(16),
        heartbeat=0,
    )
