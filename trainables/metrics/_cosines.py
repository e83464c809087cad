"""Embeddings of one role, sorted by class, with their cosines in float32 and in float64.

N = rows, R = a range or selection of rows, P = pairs of rows, D = embedding dimension.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from typing import TypeVar

import torch
from torch import Tensor

from podium.trainables.geometry import lifted
from podium.trainables.tasks import Geometry

_Item = TypeVar("_Item")

# Cosines closer than this are equal: far above the rounding of float64, far below that of the
# float32 numbers an embedding is made of.
FLOAT64_SLACK = 1e-12

# Rows that are float64 at the same time: they stay in a core's cache.
_CONVERTED_ROWS = {"cpu": 256, "cuda": 16384}

# Pairs of a block are computed one by one if they are less than this part of it.
FEW_PAIRS = 1 / 16

# Pairs of which both rows are float64 at the same time.
_EXACT_PAIRS = 1024


class SortedRows:
    """Embeddings and labels in ascending order of class.

    Attributes:
        order_N: position of each row in the input.
        labels_N: the sorted labels.
        unit_ND: the embeddings as float32 of length 1.
        lengths_N: float64, never 0: a zero row has no direction and stays zero.

    Rows that are lifted (`trainables.geometry`) stay as long as they are: their products, of rows
    `as_queries` with rows, take the place of cosines.
    """

    def __init__(
        self, embeddings_ND: Tensor, labels_N: Tensor, *, is_lifted: bool = False
    ) -> None:
        check_finite(embeddings_ND)
        if embeddings_ND.ndim != 2 or labels_N.shape != embeddings_ND.shape[:1]:
            raise ValueError(
                "embeddings must be (N, D) and labels (N,), but got "
                f"{tuple(embeddings_ND.shape)} and {tuple(labels_N.shape)}"
            )
        self._embeddings_ND, self._is_lifted = embeddings_ND, is_lifted
        self.labels_N, self.order_N = labels_N.to(embeddings_ND.device).sort(stable=True)
        ends_N = torch.searchsorted(self.labels_N, self.labels_N, right=True)
        self._class_ends: list[int] = ends_N.tolist()
        self.unit_ND = embeddings_ND.new_empty(embeddings_ND.shape, dtype=torch.float32)
        self.lengths_N = torch.empty_like(self.labels_N, dtype=torch.float64)
        self._deal_rows(self._convert)

    def _convert(self, rows: slice) -> None:
        given_RD = self.given(rows)
        self.lengths_N[rows] = 1.0 if self._is_lifted else _lengths(given_RD)
        self.unit_ND[rows] = given_RD / self.lengths_N[rows, None]

    def _deal_rows(self, function: Callable[[slice], None]) -> None:
        device = self.unit_ND.device.type
        deal(function, slices(0, len(self), _CONVERTED_ROWS[device]), device)

    def __len__(self) -> int:
        return len(self.labels_N)

    @cached_property
    def short(self) -> tuple[Tensor, Tensor]:
        """The embeddings of length 1 in bfloat16, (N, D), and how far each was rounded, (N,)."""
        rows_ND = torch.empty_like(self.unit_ND, dtype=torch.bfloat16)
        errors_N = torch.empty_like(self.labels_N, dtype=torch.float32)

        def shorten(rows: slice) -> None:
            rows_ND[rows] = self.unit_ND[rows]
            errors_N[rows] = torch.linalg.vector_norm(self.unit_ND[rows] - rows_ND[rows], dim=1)

        self._deal_rows(shorten)
        return rows_ND, errors_N

    def given(self, rows: slice | Tensor) -> Tensor:
        """Sorted rows as float64, as long as they were given, shape (R, D)."""
        return self._embeddings_ND.index_select(0, self.order_N[rows]).double()

    def exact(self, rows: slice | Tensor) -> Tensor:
        """Sorted rows as float64 of length 1, shape (R, D)."""
        return self.given(rows) / self.lengths_N[rows, None]

    def as_queries(self, rows_RD: Tensor) -> Tensor:
        """Rows of this kind as the left side of a product: of lifted ones the last is negated."""
        if not self._is_lifted:
            return rows_RD
        return torch.cat([rows_RD[:, :-1], -rows_RD[:, -1:]], dim=1)

    def class_runs(self, size: int) -> Iterator[slice]:
        """Rows in runs of whole classes, ``size`` rows or more as far as there are so many.

        Args:
            size: number of rows of a run at most, at least 1.
        """
        start = 0
        while start < len(self):
            stop = self._class_ends[min(start + size, len(self)) - 1]
            yield slice(start, stop)
            start = stop


def queries_and_gallery(
    embeddings_ND: Tensor, labels_N: Tensor, is_gallery_N: Tensor | None, geometry: Geometry
) -> tuple[SortedRows, SortedRows]:
    """The rows of both roles: one object where each image is a query against all others.

    Args:
        embeddings_ND: embeddings of any length and float type, on any device.
        labels_N: int64 class of each image.
        is_gallery_N: bool, whether an image is in the gallery only, the others being the queries;
            None where every image is a query against all others.
        geometry: by which distance queries are compared with the gallery.

    Raises:
        ValueError: an embedding is not finite, or the shapes disagree.
    """
    is_lifted = geometry != "cosine"
    if is_lifted:
        check_finite(embeddings_ND)
        embeddings_ND = lifted(embeddings_ND, geometry)
    if is_gallery_N is None:
        rows = SortedRows(embeddings_ND, labels_N, is_lifted=is_lifted)
        return rows, rows
    is_row_N = is_gallery_N.to(embeddings_ND.device)
    is_label_N = is_gallery_N.to(labels_N.device)
    queries, gallery = (
        SortedRows(embeddings_ND[rows_N], labels_N[of_labels_N], is_lifted=is_lifted)
        for rows_N, of_labels_N in ((~is_row_N, ~is_label_N), (is_row_N, is_label_N))
    )
    return queries, gallery


def exact_cosines(
    left: SortedRows, left_rows_P: Tensor, right: SortedRows, right_rows_P: Tensor
) -> Tensor:
    """Cosines of pairs of rows, in float64, shape (P,)."""
    cosines_P = torch.empty_like(left_rows_P, dtype=torch.float64)
    for pairs in slices(0, len(left_rows_P), _EXACT_PAIRS):
        left_P, right_P = left_rows_P[pairs], right_rows_P[pairs]
        products_P = (left.as_queries(left.given(left_P)) * right.given(right_P)).sum(1)
        # Dividing by lengths last is less work than unit vectors are.
        cosines_P[pairs] = products_P / left.lengths_N[left_P] / right.lengths_N[right_P]
    return cosines_P


def unit_float32(embeddings_ND: Tensor) -> Tensor:
    """Embeddings with length 1, rounded to float32 only at the end: no length is too large."""
    unit_ND = torch.empty_like(embeddings_ND, dtype=torch.float32)
    for rows in slices(0, len(embeddings_ND), _CONVERTED_ROWS[embeddings_ND.device.type]):
        unit_ND[rows] = unit_float64(embeddings_ND[rows])
    return unit_ND


def check_finite(embeddings_ND: Tensor) -> None:
    """Raise ValueError if an embedding holds NaN or infinity: it has no neighbours."""
    # The largest or the smallest of a row is infinite or NaN if any number of it is.
    is_finite_N = embeddings_ND.amax(dim=1).isfinite() & embeddings_ND.amin(dim=1).isfinite()
    bad = int((~is_finite_N).sum())
    if bad:
        raise ValueError(
            f"embeddings must be finite, but {bad} of {len(embeddings_ND)} hold NaN or infinity"
        )


def float32_slack(dim: int) -> float:
    """How far a float32 cosine of ``dim`` terms may be off; errors seen are ten times smaller.

    Roundings of a sum add up like a random walk, so the bound grows with the root of ``dim``.
    """
    return max(8.0, 2.0 * math.sqrt(dim)) * torch.finfo(torch.float32).eps


@contextmanager
def full_precision() -> Iterator[None]:
    """Matrix products in true float32, even under autocast or where TF32 is allowed.

    Those of bfloat16 are added up in float32, and rounded once.
    """
    before = torch.get_float32_matmul_precision()
    of_cuda = torch.backends.cuda.matmul
    may_round_sums = of_cuda.allow_bf16_reduced_precision_reduction
    torch.set_float32_matmul_precision("highest")
    of_cuda.allow_bf16_reduced_precision_reduction = False
    try:
        with (
            torch.no_grad(),
            torch.autocast("cuda", enabled=False),
            torch.autocast("cpu", enabled=False),
        ):
            yield
    finally:
        torch.set_float32_matmul_precision(before)
        of_cuda.allow_bf16_reduced_precision_reduction = may_round_sums


def deal(function: Callable[[_Item], object], items: Iterable[_Item], device: str) -> None:
    """Call ``function`` of every item, on a CPU in as many threads as torch was given.

    Each thread then does its operations alone, since to divide every small operation among
    threads costs more than it brings: all wait for the slowest, hundreds of times.

    Args:
        function: what is safe to call from several threads.
        items: arguments of the calls, in any order.
        device: ``cpu`` or ``cuda``, where one thread gives all commands.
    """
    waiting = list(items)
    num_threads = min(torch.get_num_threads(), len(waiting)) if device == "cpu" else 1
    if num_threads < 2:
        for item in waiting:
            function(item)
        return
    left = iter(waiting)  # of a list, so that threads may share it

    @torch.no_grad()
    def work() -> None:
        for item in left:
            function(item)

    with _one_thread_each(), ThreadPoolExecutor(num_threads) as pool:
        workers = [pool.submit(work) for _ in range(num_threads)]
        try:
            for worker in workers:
                worker.result()
        finally:
            for _ in left:  # after an error or an interrupt none is begun any more
                pass


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Let an operation of torch use the thread that calls it."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def slices(start: int, stop: int, size: int) -> Iterator[slice]:
    """``range(start, stop)`` in runs of ``size``, the last one shorter."""
    for first in range(start, stop, size):
        yield slice(first, min(first + size, stop))


def unit_float64(embeddings_RD: Tensor) -> Tensor:
    """Embeddings as float64 of length 1. A zero row has no direction and stays zero."""
    exact_RD = embeddings_RD.double()
    return exact_RD / _lengths(exact_RD)[:, None]


def _lengths(exact_RD: Tensor) -> Tensor:
    lengths_R: Tensor = torch.linalg.vector_norm(exact_RD, dim=1)
    return lengths_R.clamp(min=torch.finfo(torch.float64).tiny)
