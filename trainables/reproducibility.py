"""Same trial, same bits: seeds that follow from names, and torch set up for the time of a block.

Nothing random outlives a block: each starts from a seed of its own, which follows from the trial's
seed, the fold and the epoch. So a resumed trial continues with the numbers it would have drawn,
and what ran in the process before or in between does not matter.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

_DETERMINISTIC: Any = torch.utils.deterministic  # its attributes are made when it is imported


def derive_seed(*parts: int | str) -> int:
    """A seed in [0, 2**63) that follows from ``parts``, the same on every machine."""
    text = json.dumps(parts, separators=(",", ":"))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


@contextmanager
def reproducible(seed: int, num_threads: int) -> Iterator[None]:
    """Seeded, deterministic torch on ``num_threads`` threads; all as it was afterwards.

    An operation that has no deterministic form raises RuntimeError.
    """
    # Read by cuBLAS when it is first used; without it matrix products on CUDA are refused.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    threads = torch.get_num_threads()
    is_deterministic = torch.are_deterministic_algorithms_enabled()
    only_warns = torch.is_deterministic_algorithms_warn_only_enabled()
    fills_memory = _DETERMINISTIC.fill_uninitialized_memory
    benchmarks = torch.backends.cudnn.benchmark
    devices = range(torch.cuda.device_count())
    with torch.random.fork_rng(devices):
        try:
            torch.set_num_threads(num_threads)
            torch.use_deterministic_algorithms(True)
            # A tenth of a small network's time; what reads memory it did not write is a bug of
            # torch that NaN in place of chance would not make right.
            _DETERMINISTIC.fill_uninitialized_memory = False
            torch.backends.cudnn.benchmark = False
            torch.manual_seed(seed)
            yield
        finally:
            torch.set_num_threads(threads)
            torch.use_deterministic_algorithms(is_deterministic, warn_only=only_warns)
            _DETERMINISTIC.fill_uninitialized_memory = fills_memory
            torch.backends.cudnn.benchmark = benchmarks
