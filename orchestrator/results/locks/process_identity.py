"""Which process this is, told so that another start of podium can see whether it is alive."""

import platform
import sys
from pathlib import Path

import psutil

__all__ = ["machine_id", "process_start"]

_DEAD_STATES = ("Z", "X")


def machine_id() -> str:
    """Equal for two processes only if they see each other's process ids.

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
    # The command's name stands in brackets and may hold anything, brackets too.
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
