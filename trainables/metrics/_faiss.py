"""The only module that calls faiss, which need not be installed.

No score depends on it: its lists are float32, and their users settle in float64 what
float32 cannot distinguish (`trainables.metrics._screening`).

Q = queries, N = gallery, K = listed rows, D = dimension.
"""

import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch import Tensor

# Run in a process of its own: where libraries or driver do not fit, faiss may end the process
# instead of raising an error.
_SEARCH_ON_GPU = """
import torch, faiss
torch.zeros(1, device="cuda")
rows = torch.eye(2).numpy()
resources = faiss.StandardGpuResources()
found = faiss.knn_gpu(resources, rows, rows, 1, metric=faiss.METRIC_INNER_PRODUCT)
assert found[1].tolist() == [[0], [1]], found[1].tolist()
"""
_SEARCH_LIMIT_S = 120


@cache
def can_search(device: str) -> bool:
    """Whether faiss is there and works, for a ``cuda`` device also on the GPU.

    Where it is not installed, or without its GPU part, torch does the same work. Where it is
    installed but cannot be loaded, or cannot search on the GPU, torch does it too, and a warning
    says so, once a process: the package for GPUs brings libraries of CUDA 12, torch those of
    another version, and both need a driver that is recent enough.
    """
    try:
        faiss = _faiss()
    except ModuleNotFoundError as error:
        problem = "" if error.name == "faiss" else str(error)
    except (ImportError, OSError, RuntimeError, AttributeError) as error:
        problem = str(error)
    else:
        if device == "cpu":
            return True
        if device != "cuda" or not hasattr(faiss, "StandardGpuResources"):
            return False
        problem = _problem_on_gpu()
        if not problem:
            return True
    if problem:
        warnings.warn(
            f"faiss is installed but cannot search on this device ({device}), so torch does in its"
            f" place, with the same scores: {problem}",
            RuntimeWarning,
            stacklevel=2,
        )
    return False


def _problem_on_gpu() -> str:
    """Why faiss cannot search on the GPU beside torch; empty if it can."""
    command = [sys.executable, "-c", _SEARCH_ON_GPU]
    try:
        subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=_SEARCH_LIMIT_S
        )
    except subprocess.CalledProcessError as error:
        last = error.stderr.strip().splitlines()[-1:] or [f"exit code {error.returncode}"]
        return str(last[0])
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return ""


def largest_products(queries_QD: Tensor, gallery_ND: Tensor, num: int) -> tuple[Tensor, Tensor]:
    """The ``num`` rows of the gallery with the largest inner product, the largest first.

    Args:
        queries_QD: float32, on a device that `can_search`.
        gallery_ND: float32, on the same device.
        num: 1 to N.

    Returns:
        (products_QK float32, indices_QK int64), on the device of the queries.
    """
    faiss = _faiss()
    queries, gallery = (rows.contiguous().cpu().numpy() for rows in (queries_QD, gallery_ND))
    if queries_QD.device.type == "cuda":
        found = faiss.knn_gpu(
            _gpu_resources(),
            queries,
            gallery,
            num,
            metric=faiss.METRIC_INNER_PRODUCT,
            device=queries_QD.get_device(),
        )
    else:
        with _threads_of_torch():
            found = faiss.knn(queries, gallery, num, metric=faiss.METRIC_INNER_PRODUCT)
    products, indices = (torch.from_numpy(part).to(queries_QD.device) for part in found)
    return products, indices


@cache
def _faiss() -> Any:
    # Of the wrapper that SWIG makes, from Python 3.12 on.
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        import faiss
    return faiss


@cache
def _gpu_resources() -> Any:
    return _faiss().StandardGpuResources()


@contextmanager
def _threads_of_torch() -> Iterator[None]:
    """Let faiss have as many threads as torch has: those that the trial was given."""
    faiss = _faiss()
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(torch.get_num_threads())
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
