"""The gallery images of a query's own class: in rows sorted by class, a run of columns.

N = queries or gallery images, R and C = rows and columns of a block, D = embedding dimension.
"""

from collections.abc import Callable, Iterator
from math import inf

import torch
from torch import Tensor

from podium.trainables.metrics._cosines import (
    SortedRows,
    deal,
    slices,
)

# Queries of few classes are compared at a time, so that few negatives are read; of one large class
# no more than so many. A GPU does more at once in the time that it takes to be told.
_RUN_ROWS = {"cpu": 32, "cuda": 2048}
_MAX_ROWS = {"cpu": 1024, "cuda": 4096}


class Positives:
    """Of each query the images of its class, itself left out where it is in the gallery.

    Attributes:
        counts_N: int64, number of positives of each query.
    """

    def __init__(self, queries: SortedRows, gallery: SortedRows) -> None:
        self._queries, self._gallery = queries, gallery
        self._is_symmetric = queries is gallery
        firsts_N = torch.searchsorted(gallery.labels_N, queries.labels_N)
        lasts_N = torch.searchsorted(gallery.labels_N, queries.labels_N, right=True)
        self.counts_N = lasts_N - firsts_N - int(self._is_symmetric)
        self._firsts, self._lasts = firsts_N.tolist(), lasts_N.tolist()
        device = queries.unit_ND.device.type
        self._run_rows, self._max_rows = _RUN_ROWS[device], _MAX_ROWS[device]

    def columns(self, first: int, last: int) -> slice:
        """The run that holds all classes of the queries ``first`` to ``last``."""
        return slice(self._firsts[first], self._lasts[last])

    def are_none(self, rows_R: Tensor, columns: slice) -> Tensor:
        """Whether an image is not a positive of a query, shape (R, C)."""
        row_labels_R = self._queries.labels_N[rows_R]
        is_none_RC = row_labels_R[:, None] != self._gallery.labels_N[columns]
        if self._is_symmetric:
            columns_C = torch.arange(columns.start, columns.stop, device=rows_R.device)
            is_none_RC |= rows_R[:, None] == columns_C
        return is_none_RC

    def best(self) -> Tensor:
        """Largest float32 cosine of every query with a positive; -inf without any."""
        best_N = torch.full_like(self._queries.labels_N, -inf, dtype=torch.float32)
        every_N = torch.arange(len(best_N), device=best_N.device)

        def find(rows: slice) -> None:
            best_N[rows] = self._best(
                self._queries.as_queries(self._queries.unit_ND[rows]),
                every_N[rows],
                self.columns(rows.start, rows.stop - 1),
                self._gallery.unit_ND.__getitem__,
            )

        deal(find, self._runs(), best_N.device.type)
        return best_N

    def _runs(self) -> Iterator[slice]:
        """Queries that are compared at a time."""
        for run in self._queries.class_runs(self._run_rows):
            yield from slices(run.start, run.stop, self._max_rows)

    def exact_best(self, rows_R: Tensor) -> Tensor:
        """As `best`, in float64, of some queries in ascending order."""
        best_R = torch.empty_like(rows_R, dtype=torch.float64)
        _, sizes = torch.unique_consecutive(self._queries.labels_N[rows_R], return_counts=True)
        start = 0
        for size in sizes.tolist():
            for part in slices(start, start + size, self._max_rows):
                first = int(rows_R[start])
                best_R[part] = self._best(
                    self._queries.as_queries(self._queries.exact(rows_R[part])),
                    rows_R[part],
                    self.columns(first, first),
                    self._gallery.exact,
                )
            start += size
        return best_R

    def _best(
        self,
        queries_RD: Tensor,
        rows_R: Tensor,
        own: slice,
        gallery: Callable[[slice], Tensor],
    ) -> Tensor:
        best_R = queries_RD.new_full((len(rows_R),), -inf)
        for columns in slices(own.start, own.stop, self._max_rows):
            S_RC = queries_RD @ gallery(columns).T
            S_RC.masked_fill_(self.are_none(rows_R, columns), -inf)
            best_R = torch.maximum(best_R, S_RC.amax(1))
        return best_R
