"""The lock of a study: one run at a time, and a dead run never blocks the next.

Each run that gets the lock creates a file of the next number, ``lock/<number>.json``, which only
one can. It names its owner and holds a counter that the owner raises every few seconds; no other
process writes it. The last number counts. No clock is compared between machines. Who finds a lock

- that is free, or of a dead process on this machine, takes it at once;
- of a living process on this machine, stopped or not, is refused;
- of another machine watches its counter: he is refused when it moves, and takes over when it has
  not moved for a minute.

So of two runs that see the same dead owner one gets the lock, and an owner that was held up finds
a later number, and does not undo what another did meanwhile.
"""

import os
import platform
import secrets
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Self

import psutil
from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from podium.errors import CorruptFileError, LockHeldError, StoreError
from podium.orchestrator.results.records.json_records import STRICT, Count, parsed
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.files import (
    list_files,
    put,
    put_if_absent,
    read_bytes,
    remove_temporaries,
)
from podium.orchestrator.results.storage.local_files import check_not_vanished
from podium.orchestrator.results.storage.transient_errors import retrying_for

_HEARTBEAT_SECONDS = 5.0
_WATCH_SECONDS = 60.0  # the counter of another machine must stand still for so long
_POLLS_PER_WATCH = 50


@dataclass(frozen=True, slots=True, config=STRICT)
class LockOwner:
    """What the file of a lock holds.

    Attributes:
        machine: `machine_id` of the process.
        process_start: `process_start` of it: a later process with the same id is another.
        token: random text, new for each run.
        heartbeat: counter that the owner raises while it lives.
    """

    host: str
    machine: str
    pid: Count
    process_start: str
    token: str
    heartbeat: Count

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


def this_process() -> LockOwner:
    """This process as the owner of a new lock."""
    start = process_start(os.getpid())
    assert start is not None, "this process is alive"
    host, token = platform.node(), secrets.token_hex(16)
    return LockOwner(host, machine_id(), os.getpid(), start, token, heartbeat=0)


def is_dead(owner: LockOwner) -> bool:
    """Whether the owner was a process of this machine that has ended; False if elsewhere."""
    return owner.machine == machine_id() and process_start(owner.pid) != owner.process_start


def machine_id() -> str:
    """A text that is equal for two processes only if they see each other's process ids.

    Elsewhere than on Linux, the host name alone.
    """
    if sys.platform != "linux":
        return platform.node()
    # Containers may share a host name.
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{platform.node()} {boot} {Path('/proc/self/ns/pid').readlink()}"


def process_start(pid: int) -> str | None:
    """When a process started, only to be compared; None if it is not alive.

    A process that was killed but not yet reaped is not alive; a stopped one is. Linux counts
    from the boot, so setting the clock changes nothing.
    """
    try:
        process = psutil.Process(pid)
        if process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
            return None
        if sys.platform != "linux":
            return repr(process.create_time())
        # The name of the command is in brackets and may hold anything, brackets too.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (psutil.NoSuchProcess, FileNotFoundError, ProcessLookupError):
        return None


_OWNER = TypeAdapter[LockOwner | None](LockOwner | None)  # None is what an owner leaves
_NAME = "lock, to be deleted if no run of the study is alive"


def lock_owner(paths: StudyPaths) -> LockOwner | None:
    """Who runs a study, alive or not; CorruptFileError for a damaged or foreign lock."""
    return _owner(paths, _last_number(paths))


def _last_number(paths: StudyPaths) -> int:
    files = list_files(paths.locks, ".json")
    for file in files:
        if not file.stem.isdecimal():
            raise CorruptFileError(f"{file} is no lock; delete it")
    return max((int(file.stem) for file in files), default=0)


def _owner(paths: StudyPaths, number: int) -> LockOwner | None:
    """Who left a lock; None if it is free, or was deleted."""
    file = paths.lock(number)
    content = read_bytes(file)
    return None if content is None else parsed(_OWNER, content, str(file), _NAME)


def _text(owner: LockOwner | None) -> bytes:
    return _OWNER.dump_json(owner) + b"\n"


class StudyLock:
    """Context manager that holds the lock of a study.

    The owner may lose the lock, by force or because another machine saw no heartbeat for too
    long: `raise_if_lost` says so, and the run must then stop without writing.

    It says that it waits, or has lost the lock, from the heartbeat's thread too.

    Raises:
        LockHeldError: on entering; the owner is alive, and is named.
        StoreError: on entering; the lock cannot be written.
    """

    def __init__(self, paths: StudyPaths, say: Callable[[str], object]) -> None:
        self._paths = paths
        self._say = say
        self._owner, self._number = this_process(), 0
        self._lost: str | None = None
        self._seen_at = _now()
        self._beating = threading.Lock()
        self._released = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="study-lock", daemon=True)

    def __enter__(self) -> Self:
        refused = self._take(None)
        if refused is not None and refused.machine != self._owner.machine:
            self._watch(refused)
            refused = self._take(refused)
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
            found = _owner(self._paths, self._number)
            if found is not None and found.token == self._owner.token:
                put(self._paths.lock(self._number), _text(None))

    def raise_if_lost(self) -> None:
        """Raise LockHeldError if another run has the lock now, or it was deleted.

        If no heartbeat was written for long, as when this process was stopped or the store did
        not answer, another run may hold the lock by now: then the store is read first.

        Raises:
            StoreError: the store had to be read and does not answer.
        """
        if self._lost is None and _now() - self._seen_at > _WATCH_SECONDS / 2:
            self._raise_counter()
        if self._lost is not None:
            raise LockHeldError(self._lost)

    def _take(self, silent: LockOwner | None) -> LockOwner | None:
        """Take the lock if it is free, its owner dead or still ``silent``; else name the owner."""
        number = _last_number(self._paths)
        while True:
            found = _owner(self._paths, number)
            if found is not None and found != silent and not is_dead(found):
                return found
            number += 1
            if put_if_absent(self._paths.lock(number), _text(self._owner)):
                remove_temporaries(self._paths.locks, self._paths.lock(number - 1).name)
                self._number = number
                return None

    def _watch(self, owner: LockOwner) -> None:
        """Watch the lock of another machine, until it changes or was silent for long enough."""
        self._say(
            f"{self._paths.locks} belongs to {owner}, which cannot be seen from here; checking"
            f" for {_WATCH_SECONDS:g} s whether it is alive ..."
        )
        # Polls are counted, not timed: during an outage each waits, and no heartbeat can be seen.
        for _ in range(_POLLS_PER_WATCH):
            time.sleep(_WATCH_SECONDS / _POLLS_PER_WATCH)
            if lock_owner(self._paths) != owner:
                return

    def _beat(self) -> None:
        while self._lost is None and not self._released.wait(_HEARTBEAT_SECONDS):
            # The next beat is soon enough; `raise_if_lost` says what lasts.
            with suppress(StoreError, CorruptFileError), retrying_for(0):
                self._raise_counter()
        if self._lost is not None:
            self._say(self._lost)

    def _raise_counter(self) -> None:
        with self._beating:
            started_at = _now()
            number = _last_number(self._paths)
            found = _owner(self._paths, number)
            if found is None:
                check_not_vanished(self._paths.locks)
                self._lost = f"this run lost the lock of its study in {self._paths.locks}"
            elif found.token != self._owner.token:
                self._lost = f"this run lost the lock of {self._paths.folder} to {found}"
            else:
                self._owner = replace(self._owner, heartbeat=self._owner.heartbeat + 1)
                put(self._paths.lock(number), _text(self._owner))
                self._seen_at = started_at


def _now() -> float:
    """Seconds that also pass while this machine sleeps, where the system counts them."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(clock)
