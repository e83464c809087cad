"""Who holds the lock of a study, and what a place for locks must be able to do."""

import os
import platform
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Protocol

from orchestrator.results.errors import CorruptFileError
from orchestrator.results.locks.process_identity import machine_id, process_start
from orchestrator.results.storage.locations import Place

__all__ = ["Beat", "LockFile", "LockOwner", "is_dead", "owner_of", "this_process"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LockOwner:
    """What the file of a lock holds.

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


class Beat(NamedTuple):
    """What an owner learns when it raises its heartbeat.

    Attributes:
        is_ours: whether it holds the lock still.
        other: who does instead, if somebody does.
    """

    is_ours: bool
    other: LockOwner | None = None


class LockFile(Protocol):
    """Where a lock lies. All of it may raise StoreError, and CorruptFileError for a foreign file.

    Attributes:
        place: for messages.
    """

    place: Place

    def look(self) -> LockOwner | None:
        """Who holds the lock; None if it is free."""

    def take(self, owner: LockOwner, silent: LockOwner | None) -> LockOwner | None:
        """Take the lock if it is free, its owner dead or still ``silent``; else name the owner.

        Raises:
            LockHeldError: another run is taking it at this moment.
        """

    def beat(self, owner: LockOwner) -> Beat:
        """Write the owner's heartbeat unless the lock was lost."""

    def release(self, owner: LockOwner) -> None:
        """Free the lock if it is the owner's."""


def owner_of(values: Mapping[str, Any], place: Place) -> LockOwner:
    """The owner that a file names.

    Raises:
        CorruptFileError: the file is no lock.
    """
    if values.keys() != _FIELDS:
        raise CorruptFileError(
            f"{place} is no lock: it must hold {', '.join(sorted(_FIELDS))}; "
            "delete it if no run of the study is alive"
        )
    return LockOwner(**values)


def is_dead(owner: LockOwner) -> bool:
    """Whether the owner is a process of this machine that does not live any more."""
    return owner.machine == machine_id() and process_start(owner.pid) != owner.process_start


def this_process() -> LockOwner:
    """As the owner of a lock."""
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
