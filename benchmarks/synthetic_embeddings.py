"""Embeddings of the size of the published test sets, and the memory a computation takes."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor
from torch.nn.functional import normalize

# Images, classes and noise of the test halves: the noise makes Recall@1 about 0.6 to 0.8.
SIZES = {
    "small": (2000, 50, 3.3),
    "cub": (5924, 100, 3.5),
    "cars": (8131, 98, 3.6),
    "sop": (60502, 11316, 2.2),
}
GEMM_ROWS = 1024
Result = TypeVar("Result")


def clustered_embeddings(size: str, dim: int, device: str) -> tuple[Tensor, Tensor]:
    num_images, num_classes, noise = SIZES[size]
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(num_images) % num_classes
    centres = torch.randn(num_classes, dim, generator=generator)
    noise_vectors = torch.randn(num_images, dim, generator=generator)
    embeddings = normalize(centres[labels] + noise * noise_vectors, dim=1)
    return embeddings.to(device), labels.to(device)


def full_product(embeddings: Tensor) -> Callable[[], None]:
    """One float32 matrix product of all pairs, in blocks of rows."""
    buffer = torch.empty(min(GEMM_ROWS, len(embeddings)), len(embeddings)).to(embeddings)

    def multiply() -> None:
        for rows in embeddings.split(GEMM_ROWS):
            torch.mm(rows, embeddings.T, out=buffer[: len(rows)])

    return multiply


def with_peak_memory(way: Callable[[], Result], device: str) -> tuple[Result, float]:
    """What ``way`` returns, and the MB it took at its peak (on the CPU: Linux only)."""
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        result = way()
        return result, (torch.cuda.max_memory_allocated() - before) / 2**20
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
    before = _status_kb("VmRSS")
    result = way()
    return result, (_status_kb("VmHWM") - before) / 2**10


def _status_kb(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))
