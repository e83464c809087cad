"""The rank of every query's best positive: one number that holds Recall@K for every K.

rank = 1 + number of negatives at least as similar as the most similar positive. So ties count
against the query: a collapsed embedding scores 0, not 1. No neighbour list is sorted or kept; each
block of cosines is computed once and counted for its rows and for its columns.

N = rows, Q = queries, R and C = rows and columns of a block, D = embedding dimension.
"""

from dataclasses import dataclass
from math import inf

import torch
from torch import Tensor

from trainables.metrics._cosines import (
    FLOAT64_SLACK,
    SortedRows,
    float32_slack,
    full_precision,
    slices,
)

__all__ = ["FirstPositiveRanks", "first_positive_ranks", "first_positive_ranks_between"]

# Rows and columns of a block: at most so many, since two float32 blocks are all the memory taken
# beside the embeddings; fewer for small data, since blocks on the diagonal are computed in full.
_MAX_BLOCK_ROWS = {"cpu": 1024, "cuda": 8192}
_MIN_BLOCK_ROWS = {"cpu": 256, "cuda": 2048}
_BLOCKS_PER_SIDE = 8

# Positives are searched in float64 among few rows at a time, so that hardly any negative is read.
_POSITIVE_ROWS = 64
_POSITIVE_COLUMNS = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstPositiveRanks:
    """Ranks of the queries that have a positive, in the order of the input.

    Attributes:
        ranks_Q: int64, 1 if the nearest image is of the query's class.
        indices_Q: int64, position of the query in the input.
        labels_Q: int64, class of the query.
        num_singletons: queries without any positive; they are left out.
        num_gallery: images searched, the query itself included where it is one of them.
    """

    ranks_Q: Tensor
    indices_Q: Tensor
    labels_Q: Tensor
    num_singletons: int
    num_gallery: int


def first_positive_ranks(embeddings_ND: Tensor, labels_N: Tensor) -> FirstPositiveRanks:
    """Every image is a query against all others; itself is left out by its index.

    Cosines are compared as if computed in float64: those within float32 rounding of the threshold
    are computed again. Cosines that agree to 1e-12 are ties.

    Args:
        embeddings_ND: of any length and float type, on any device.
        labels_N: int64 classes.

    Returns:
        Tensors on the CPU.

    Raises:
        ValueError: an embedding is not finite, or the shapes disagree.
    """
    with full_precision():
        rows = SortedRows(embeddings_ND, labels_N)
        return _Count(rows, rows).ranks()


def first_positive_ranks_between(
    query_embeddings_QD: Tensor,
    query_labels_Q: Tensor,
    gallery_embeddings_ND: Tensor,
    gallery_labels_N: Tensor,
) -> FirstPositiveRanks:
    """As `first_positive_ranks`, for queries that are no part of the gallery."""
    with full_precision():
        queries = SortedRows(query_embeddings_QD, query_labels_Q)
        return _Count(queries, SortedRows(gallery_embeddings_ND, gallery_labels_N)).ranks()


class _Count:
    """Counts, for each query, the negatives at least as similar as its best positive."""

    def __init__(self, queries: SortedRows, gallery: SortedRows) -> None:
        self._queries, self._gallery = queries, gallery
        self._is_symmetric = queries is gallery
        device = queries.unit_ND.device
        self._best_Q = _best_positives(queries, gallery)
        slack = float32_slack(queries.unit_ND.shape[1])
        self._possible_Q = (self._best_Q - slack).float()
        self._certain_Q = (self._best_Q + slack).float()
        self._above_Q = torch.zeros(len(queries), dtype=torch.int64, device=device)
        self._block_rows = _block_rows(len(gallery), device.type)
        size = min(self._block_rows, len(queries)) * min(self._block_rows, len(gallery))
        self._cosines = torch.empty(size, device=device)
        self._flags = torch.empty(size, device=device)

    def ranks(self) -> FirstPositiveRanks:
        for rows in slices(0, len(self._queries), self._block_rows):
            first = rows.start if self._is_symmetric else 0
            for columns in slices(first, len(self._gallery), self._block_rows):
                self._count_block(rows, columns)
        order_Q = self._queries.order_N.argsort()
        best_Q, above_Q = self._best_Q[order_Q].cpu(), self._above_Q[order_Q].cpu()
        indices_Q = (best_Q < inf).nonzero().squeeze(1)
        return FirstPositiveRanks(
            ranks_Q=1 + above_Q[indices_Q],
            indices_Q=indices_Q,
            labels_Q=self._queries.labels_N[order_Q].cpu()[indices_Q],
            num_singletons=len(best_Q) - len(indices_Q),
            num_gallery=len(self._gallery),
        )

    def _count_block(self, rows: slice, columns: slice) -> None:
        shape = (rows.stop - rows.start, columns.stop - columns.start)
        size = shape[0] * shape[1]
        S_RC = self._cosines[:size].view(shape)
        flags_RC = self._flags[:size].view(shape)
        torch.mm(self._queries.unit_ND[rows], self._gallery.unit_ND[columns].T, out=S_RC)
        row_labels_R = self._queries.labels_N[rows]
        column_labels_C = self._gallery.labels_N[columns]
        if row_labels_R[0] <= column_labels_C[-1] and column_labels_C[0] <= row_labels_R[-1]:
            S_RC.masked_fill_(row_labels_R[:, None] == column_labels_C, -inf)
        self._count_rows(S_RC, flags_RC, rows, columns)
        if self._is_symmetric and columns.start > rows.start:
            self._count_rows(S_RC.T, flags_RC.T, columns, rows)

    def _count_rows(self, S_RC: Tensor, flags_RC: Tensor, rows: slice, columns: slice) -> None:
        # Comparing into a float buffer is many times faster than summing booleans.
        possible_R1 = self._possible_Q[rows, None]
        certain_R1 = self._certain_Q[rows, None]
        possible_R = torch.ge(S_RC, possible_R1, out=flags_RC).sum(1)
        certain_R = torch.ge(S_RC, certain_R1, out=flags_RC).sum(1)
        self._above_Q[rows] += certain_R.long()
        doubtful = (possible_R != certain_R).nonzero().squeeze(1)
        if len(doubtful):
            S_RC = S_RC[doubtful]
            is_doubtful_RC = S_RC.ge(possible_R1[doubtful]) & S_RC.lt(certain_R1[doubtful])
            doubtful_rows = doubtful + rows.start
            exact_RC = self._queries.exact(doubtful_rows) @ self._gallery.exact(columns).T
            is_above_RC = exact_RC >= self._best_Q[doubtful_rows, None] - FLOAT64_SLACK
            self._above_Q[doubtful_rows] += (is_doubtful_RC & is_above_RC).sum(1)


def _best_positives(queries: SortedRows, gallery: SortedRows) -> Tensor:
    """Float64 cosine of each query's best positive; +inf where there is none."""
    best_Q = torch.full_like(queries.labels_N, -inf, dtype=torch.float64)
    positions_N = torch.arange(len(gallery), device=best_Q.device)
    firsts = torch.searchsorted(gallery.labels_N, queries.labels_N).tolist()
    lasts = torch.searchsorted(gallery.labels_N, queries.labels_N, right=True).tolist()
    for rows in slices(0, len(queries), _POSITIVE_ROWS):
        exact_RD = queries.exact(rows)
        for columns in slices(firsts[rows.start], lasts[rows.stop - 1], _POSITIVE_COLUMNS):
            S_RC = exact_RD @ gallery.exact(columns).T
            is_none_RC = queries.labels_N[rows, None] != gallery.labels_N[columns]
            if queries is gallery:
                is_none_RC |= positions_N[rows, None] == positions_N[columns]
            S_RC.masked_fill_(is_none_RC, -inf)
            best_Q[rows] = torch.maximum(best_Q[rows], S_RC.amax(1))
    return best_Q.masked_fill_(best_Q == -inf, inf)


def _block_rows(num_rows: int, device: str) -> int:
    wanted = -(-num_rows // _BLOCKS_PER_SIDE)
    return min(max(wanted, _MIN_BLOCK_ROWS[device]), _MAX_BLOCK_ROWS[device])
