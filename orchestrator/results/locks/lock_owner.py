"""The owner of a study's lock, and whether it is alive."""

import os
import platform
import secrets
import sys
from pathlib import Path

import psutil
from pydantic.dataclasses import dataclass

from podium.orchestrator.results.records.json_records import STRICT, Count


@dataclass(frozen=True, slots=True, config=STRICT)
class LockOwner:
    """What the file of a lock holds.

    Attributes:
        host: name of the machine, for messages.
        machine: `machine_id` of the process.
        pid: id of the process.
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
