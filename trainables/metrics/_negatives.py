"""How many gallery images of other classes are at least as similar as a query's best positive.

Each block of cosines is computed once and counted for its rows and, where every image is a query
against all others, for its columns.

Q = queries, N = gallery images, R and C = rows and columns of a block, O = rows of it that have
negatives to count, D = those with doubtful pairs (elsewhere embedding dimension), P = pairs.
"""

import threading
from collections.abc import Iterator
from math import inf, nan

import torch
from torch import Tensor

from trainables.metrics._cosines import (
    FLOAT64_SLACK,
    SortedRows,
    deal,
    exact_cosines,
    float32_slack,
    slices,
)
from trainables.metrics._positives import Positives

# Rows and columns of a block, at most: a block is all the memory taken beside the embeddings. On a
# CPU few columns, since of a square on the diagonal both halves are computed; a GPU waits for
# commands where blocks are small.
_MAX_ROWS = {"cpu": 1024, "cuda": 16384}
_MAX_COLUMNS = {"cpu": 512, "cuda": 16384}
_BLOCKS_PER_SIDE = 12

# Pairs of a block are computed one by one if they are less than this part of it.
_FEW_PAIRS = 1 / 16


def count_negatives_above(
    queries: SortedRows, gallery: SortedRows, positives: Positives, best_Q: Tensor
) -> Tensor:
    """How many negatives are at least as similar to each query as its best positive.

    Cosines are computed in float32. Those that its rounding may put on the wrong side of the best
    positive are computed again in float64, so the counts do not depend on the processor.

    Args:
        queries: the queries; the same object as ``gallery`` where every image is one.
        gallery: the images searched.
        positives: the positives of these queries in this gallery.
        best_Q: float32 cosine of the best positive of each query; -inf without any, of which
            nothing is counted.

    Returns:
        above_Q, int64.
    """
    count = _Count(queries, gallery, positives, best_Q)
    deal(count.add, count.blocks(), best_Q.device.type)
    return count.above_Q


class _Count:
    """Counts, for each query, the negatives at least as similar as its best positive."""

    def __init__(
        self, queries: SortedRows, gallery: SortedRows, positives: Positives, best_Q: Tensor
    ) -> None:
        self._queries, self._gallery, self._positives = queries, gallery, positives
        self._is_symmetric = queries is gallery
        threshold_Q = best_Q.masked_fill(best_Q == -inf, inf)
        slack = 2.0 * float32_slack(queries.unit_ND.shape[1])  # both sides may be off
        self._possible_Q, self._certain_Q = threshold_Q - slack, threshold_Q + slack
        # Of a query that has a doubtful negative also the best positive is computed exactly.
        self._exact_best_Q = torch.full_like(best_Q, nan, dtype=torch.float64)
        self._lock = threading.Lock()  # of what is counted: blocks share queries
        self.above_Q = torch.zeros_like(best_Q, dtype=torch.int64)

    def blocks(self) -> Iterator[tuple[slice, slice]]:
        """Rows and columns; where every image is a query, one half of all and the diagonal."""
        device = self.above_Q.device.type
        most_columns = min(_MAX_COLUMNS[device], -(-len(self._gallery) // _BLOCKS_PER_SIDE))
        for columns in slices(0, len(self._gallery), max(most_columns, 1)):
            if self._is_symmetric:
                yield columns, columns
            stop = columns.start if self._is_symmetric else len(self._queries)
            for rows in slices(0, stop, _MAX_ROWS[device]):
                yield rows, columns

    def add(self, block: tuple[slice, slice]) -> None:
        rows, columns = block
        S_RC = self._queries.unit_ND[rows] @ self._gallery.unit_ND[columns].T
        self._hide_positives(S_RC, rows, columns)
        self._count_rows(S_RC, rows, columns)
        if self._is_symmetric and rows != columns:
            self._count_rows(S_RC.T, columns, rows)

    def _hide_positives(self, S_RC: Tensor, rows: slice, columns: slice) -> None:
        own = self._positives.columns(rows.start, rows.stop - 1)
        own = slice(max(own.start, columns.start), min(own.stop, columns.stop))
        if own.start < own.stop:
            is_same_RC = self._queries.labels_N[rows, None] == self._gallery.labels_N[own]
            S_RC[:, own.start - columns.start : own.stop - columns.start].masked_fill_(
                is_same_RC, -inf
            )

    def _count_rows(self, S_RC: Tensor, rows: slice, columns: slice) -> None:
        # Most blocks have no negative above the best positive of most rows.
        open_O = (S_RC.amax(1) >= self._possible_Q[rows]).nonzero().squeeze(1)
        if len(open_O) == 0:
            return
        S_OC, queries_O = S_RC.index_select(0, open_O), open_O + rows.start
        possible_O1 = self._possible_Q[queries_O, None]
        certain_O1 = self._certain_Q[queries_O, None]
        # Comparing into a float buffer is many times faster than summing booleans.
        flags_OC = torch.empty_like(S_OC)
        possible_O = torch.ge(S_OC, possible_O1, out=flags_OC).sum(1)
        certain_O = torch.gt(S_OC, certain_O1, out=flags_OC).sum(1)
        doubtful_D = (possible_O != certain_O).nonzero().squeeze(1)
        with self._lock:
            self.above_Q[queries_O] += certain_O.long()
            if len(doubtful_D):
                S_DC = S_OC[doubtful_D]
                is_doubtful_DC = S_DC.ge(possible_O1[doubtful_D]) & S_DC.le(certain_O1[doubtful_D])
                self._add_exactly(is_doubtful_DC, queries_O[doubtful_D], columns)

    def _add_exactly(self, is_doubtful_DC: Tensor, queries_D: Tensor, columns: slice) -> None:
        unknown_D = queries_D[self._exact_best_Q[queries_D].isnan()]
        if len(unknown_D):
            self._exact_best_Q[unknown_D] = self._positives.exact_best(unknown_D)
        places_P, columns_P = is_doubtful_DC.nonzero(as_tuple=True)
        queries_P = queries_D[places_P]
        if len(places_P) < _FEW_PAIRS * is_doubtful_DC.numel():
            gallery_P = columns_P + columns.start
            exact_P = exact_cosines(self._queries, queries_P, self._gallery, gallery_P)
        else:
            exact_DC = self._queries.exact(queries_D) @ self._gallery.exact(columns).T
            exact_P = exact_DC[places_P, columns_P]
        is_above_P = exact_P >= self._exact_best_Q[queries_P] - FLOAT64_SLACK
        self.above_Q.index_add_(0, queries_P, is_above_P.long())
