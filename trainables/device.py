"""Where a trial runs, how numbers get there, and the memory it took there."""

import psutil
import torch
from torch import Tensor

__all__ = ["peak_memory_mb", "reset_peak_memory", "sent", "trial_device"]

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
        values: on the CPU, not pinned.
        device: any.
    """
    return values.to(device, non_blocking=True)


def reset_peak_memory(device: torch.device) -> None:
    """Start measuring anew, where the device can."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)


def peak_memory_mb(device: torch.device) -> float:
    """MiB: on CUDA the most this process has held since the reset; else its resident set now."""
    if device.type == "cuda":
        return torch.cuda.max_memory_reserved(device) / _MB
    return float(psutil.Process().memory_info().rss / _MB)
