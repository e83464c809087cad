"""The memory of the process that trains: limiting, measuring and releasing it.

Torch is never imported here first: before it is imported, nothing is on a device.
"""

import gc
import os
import sys
import traceback

import psutil

from podium.orchestrator.study.resource_demand import CONTEXT_MB
from podium.orchestrator.trials.failure_causes import OUT_OF_HOST_MEMORY, OUT_OF_MEMORY

_MB = 2**20


def limit_memory(gpus: float) -> None:
    """Limit this process to its share of a GPU, so that it runs out of memory, not its neighbours.

    Without GPUs nothing is limited.
    """
    if gpus > 0:
        from podium.trainables.device import limit_memory_share

        limit_memory_share(min(1.0, gpus), CONTEXT_MB)


def memory_at(cause: str) -> tuple[float | None, float | None]:
    """MiB that this process held and that the device has, if memory ran out; else None.

    For a device it is the peak of the trial. For the machine it is what the process holds while
    the error is handled, with all that the trial held: the system only knows the peak of a
    process in its whole life, which may be that of another trial.
    """
    if cause == OUT_OF_HOST_MEMORY:
        return psutil.Process().memory_info().rss / _MB, None
    if cause != OUT_OF_MEMORY or "torch" not in sys.modules:
        return None, None
    from podium.trainables.device import device_memory_mb, peak_memory_mb, trial_device

    device = trial_device()
    return peak_memory_mb(device), device_memory_mb(device)


def device_memory() -> float | None:
    """Memory of this process's GPU in MiB; None without one."""
    if "torch" not in sys.modules:
        return None
    from podium.trainables.device import device_memory_mb, trial_device

    return device_memory_mb(trial_device())


def devices() -> str:
    """``0,1``: the GPUs that this process sees, by the variable or else by number; or ``cpu``.

    By number only once torch is loaded, as it is from a process's first trial on.
    """
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None and "torch" in sys.modules:
        import torch

        visible = ",".join(map(str, range(torch.cuda.device_count())))
    return visible or "cpu"


def process_bytes() -> int:
    """Bytes of the machine's memory that this process holds, without shared ones where known.

    This is cheap and works on every system, while the exact share is not known on all of them.
    """
    found = psutil.Process().memory_info()
    return int(found.rss - getattr(found, "shared", 0))


def clear_frames(error: BaseException) -> None:
    """Clear the frames of an error and its causes, which hold the tensors of the trial."""
    link: BaseException | None = error
    while link is not None:
        traceback.clear_frames(link.__traceback__)
        link = link.__cause__ or link.__context__


def release_memory() -> None:
    """Collect garbage and release cached device memory."""
    gc.collect()
    if "torch" in sys.modules:
        from podium.trainables.device import release_cached_memory

        release_cached_memory()
