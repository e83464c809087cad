"""The memory of the process that trains: its share of a device, what it held, and giving it back.

Torch is not loaded here: where it is not there yet, nothing is on a device.
"""

import gc
import sys
import traceback

import psutil

from orchestrator.trials.failure_causes import OUT_OF_HOST_MEMORY, OUT_OF_MEMORY

__all__ = [
    "device_memory",
    "forget",
    "limit_memory",
    "memory_at",
    "own_bytes",
    "release_memory",
]

_MB = 2**20


def limit_memory(gpus: float) -> None:
    """Keep this process to its share of a GPU, so that a greedy trial fails and no neighbour.

    Args:
        gpus: what the trial occupies; with 0 nothing is changed.
    """
    if gpus > 0:
        from trainables.device import limit_memory_share

        limit_memory_share(min(1.0, gpus))


def memory_at(cause: str) -> tuple[float | None, float | None]:
    """If memory ran out: MiB that this process held, and that the device has, if known.

    Of a device it is the most that the trial held. Of the machine it is what the process holds
    while the error is handled, and all with it that the trial held: the system only knows the most
    of a process in its whole life, which was another trial's, perhaps.
    """
    if cause == OUT_OF_HOST_MEMORY:
        return psutil.Process().memory_info().rss / _MB, None
    if cause != OUT_OF_MEMORY or "torch" not in sys.modules:
        return None, None
    from trainables.device import device_memory_mb, peak_memory_mb, trial_device

    device = trial_device()
    return peak_memory_mb(device), device_memory_mb(device)


def device_memory() -> float | None:
    """MiB that the GPU of this process has; None without one."""
    if "torch" not in sys.modules:
        return None
    from trainables.device import device_memory_mb, trial_device

    return device_memory_mb(trial_device())


def own_bytes() -> int:
    """Of the machine's memory, what this process holds; without mapped files, where they are told.

    Cheap, and there wherever processes are: the exact share is not known on every system.
    """
    found = psutil.Process().memory_info()
    return int(found.rss - getattr(found, "shared", 0))


def forget(error: BaseException) -> None:
    """Drop what the frames of an error hold: the tensors of the trial that it ended."""
    link: BaseException | None = error
    while link is not None:
        traceback.clear_frames(link.__traceback__)
        link = link.__cause__ or link.__context__


def release_memory() -> None:
    """Give back what nobody holds any more."""
    gc.collect()
    if "torch" in sys.modules:
        from trainables.device import release_cached_memory

        release_cached_memory()
