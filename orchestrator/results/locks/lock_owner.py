"""The owner of a study's lock, whether it is alive, and the interface of lock files."""

import os
import platform
import secrets
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import psutil

from orchestrator.results.storage.locations import Place
from podium.errors import CorruptFileError

_DEAD_STATES = ("Z", "X")


@dataclass(frozen=True, slots=True, kw_only=True)
class LockOwner:
    """What the file of a lock holds.

    Attributes:
        host: name of the machine, for messages.
        machine: `machine_id` of the process.
        pid: id of the process.
        process_start: `process_start` of the process, so that a later process with the same id
            is not taken for it.
        token: random text, new for each run.
        heartbeat: counter that the owner raises while it lives.
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


class Beat(NamedTuple):
    """What an owner learns when it raises its heartbeat.

    Attributes:
        is_ours: whether it still holds the lock.
        other: the owner that holds it instead, if any.
    """

    is_ours: bool
    other: LockOwner | None = None


class LockFile(Protocol):
    """The interface of a stored lock.

    Every method may raise StoreError, and CorruptFileError for a foreign file.

    Attributes:
        place: file or folder of the lock, for messages.
    """

    place: Place

    def look(self) -> LockOwner | None:
        """The owner of the lock; None if it is free."""

    def take(self, owner: LockOwner, silent: LockOwner | None) -> LockOwner | None:
        """Take the lock if it is free, its owner dead or still ``silent``; else name the owner.

        Raises:
            LockHeldError: another run is taking it at this moment.
        """

    def beat(self, owner: LockOwner) -> Beat:
        """Write the owner's heartbeat unless the lock was lost."""

    def release(self, owner: LockOwner) -> None:
        """Free the lock if it is the owner's."""


def this_process() -> LockOwner:
    """This process as the owner of a new lock."""
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


def parse_owner(values: Mapping[str, Any], place: Place) -> LockOwner:
    """The owner that the values of a lock file describe.

    Raises:
        CorruptFileError: the values are not those of a lock.
    """
    if values.keys() != _FIELDS:
        raise CorruptFileError(
            f"{place} is not a lock: it must hold {', '.join(sorted(_FIELDS))}; "
            "delete it if no run of the study is alive"
        )
    return LockOwner(**values)


def is_dead(owner: LockOwner) -> bool:
    """Whether the owner was a process of this machine that has ended; False if elsewhere."""
    return owner.machine == machine_id() and process_start(owner.pid) != owner.process_start


def machine_id() -> str:
    """A text that is equal for two processes only if they see each other's process ids.

    On Linux: host name, boot and process-id namespace, since containers may share a host name.
    Elsewhere the host name alone.
    """
    parts = [platform.node()]
    if sys.platform == "linux":
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return " ".join(parts)


def process_start(pid: int) -> str | None:
    """When a process started, only to be compared; None if it is not alive.

    A process that was killed but not yet reaped is not alive; a stopped one is. Linux counts
    from the boot, so setting the clock changes nothing.
    """
    if sys.platform != "linux":
        return _process_start_elsewhere(pid)
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The name of the command is in brackets and may hold anything, brackets too.
    fields = stat.rpartition(")")[2].split()
    state, start_ticks = fields[0], fields[19]
    return None if state in _DEAD_STATES else start_ticks


def _process_start_elsewhere(pid: int) -> str | None:
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return repr(process.create_time())
    except psutil.NoSuchProcess:
        return None
