"""Where a trial runs, how numbers get there, and the memory it took there."""

import psutil
import torch
from torch import Tensor

_MB = 2**20


def trial_device() -> torch.device:
    """CUDA if this process may use it, else the CPU.

    Which devices a process may use is for whoever starts it to say: by ``CUDA_VISIBLE_DEVICES``,
    where an empty value means none.
    """
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def sent(values: Tensor, device: torch.device) -> Tensor:
    """The same values on the device, in its own time.

    An ordinary copy waits until a GPU has done all it was told before, so every step would start
    on an idle one. CUDA stages memory that is not pinned before it returns, so ``values`` may
    change or go as soon as this returns.

    Args:
        values: tensor on the CPU, not pinned.
        device: any.
    """
    return values.to(device, non_blocking=True)


def reset_peak_memory(device: torch.device) -> None:
    """Start measuring anew, where the device can; memory that is no longer used is given back."""
    if device.type == "cuda":
        torch.cuda.init()  # type: ignore[no-untyped-call] # else torch has no measure to reset
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)


def peak_memory_mb(device: torch.device) -> float:
    """MiB: on CUDA the most this process has held since the reset; else its resident set now."""
    if device.type == "cuda":
        return torch.cuda.max_memory_reserved(device) / _MB
    return float(psutil.Process().memory_info().rss / _MB)


def device_memory_mb(device: torch.device) -> float | None:
    """MiB that a CUDA device has; None of others."""
    if device.type != "cuda":
        return None
    return float(torch.cuda.get_device_properties(device).total_memory / _MB)


def limit_memory_share(share: float, beside_mb: float) -> None:
    """Let this process take at most this part of the CUDA device; what is more is out of memory.

    Args:
        share: in (0, 1]; 1 takes the limit away.
        beside_mb: MiB of the share that CUDA itself holds, of which torch's limit does not know;
            at most half of the share is kept for it.
    """
    total_mb = device_memory_mb(trial_device())
    if total_mb is None:
        return
    own = share if share == 1 else max(share / 2, share - beside_mb / total_mb)
    # Of this process's device: to name it as ``cuda``, without a number, is refused.
    torch.cuda.set_per_process_memory_fraction(own)


def release_cached_memory() -> None:
    """Give the memory back to the CUDA device that no tensor uses any more."""
    torch.cuda.empty_cache()  # does nothing where CUDA was never used
