"""Where a trial runs, and the memory it took there."""

import psutil
import torch

__all__ = ["peak_memory_mb", "reset_peak_memory", "trial_device"]

_MB = 2**20


def trial_device() -> torch.device:
    """CUDA if this process may use it, else the CPU.

    Which devices a process may use is for whoever starts it to say: by ``CUDA_VISIBLE_DEVICES``,
    where an empty value means none.
    """
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def reset_peak_memory(device: torch.device) -> None:
    """Start measuring anew, where the device can."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)


def peak_memory_mb(device: torch.device) -> float:
    """MiB: on CUDA the most this process has held since the reset; else its resident set now."""
    if device.type == "cuda":
        return torch.cuda.max_memory_reserved(device) / _MB
    return float(psutil.Process().memory_info().rss / _MB)
