"""The only module that calls faiss, which need not be installed.

No score depends on it: its lists are float32, and their users settle in float64 what
float32 cannot distinguish (`trainables.metrics._screening`).

Q = queries, N = gallery, K = listed rows, D = dimension.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch import Tensor


@cache
def can_search(device: str) -> bool:
    """Whether faiss is there and can be loaded, for a ``cuda`` device with its GPU part."""
    try:
        faiss = _faiss()
    except ImportError:  # not installed, or for another machine: torch does the same work
        return False
    return device == "cpu" or (device == "cuda" and hasattr(faiss, "StandardGpuResources"))


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
    with warnings.catch_warnings():
        # Of the wrapper that SWIG makes, from Python 3.12 on.
        warnings.simplefilter("ignore", DeprecationWarning)
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
