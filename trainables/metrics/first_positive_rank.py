"""The rank of every query's best positive: one number that holds Recall@K for every K.

rank = 1 + number of negatives at least as similar as the most similar positive. So ties count
against the query: a collapsed embedding scores 0, not 1. No neighbour list is sorted or kept; each
block of cosines is computed once and counted for its rows and for its columns.

N = rows, Q = queries, R and C = rows and columns of a block, O = rows of it that have negatives to
count, D = those with doubtful pairs (elsewhere embedding dimension), P = pairs.
"""

from dataclasses import dataclass, replace
from math import inf, nan

import torch
from torch import Tensor

from trainables.metrics._cosines import (
    FLOAT64_SLACK,
    SortedRows,
    exact_cosines,
    float32_slack,
    full_precision,
    queries_and_gallery,
    slices,
)
from trainables.metrics._positives import Positives

# Rows and columns of a block, at most: a block is all the memory taken beside the embeddings. Few
# columns, since of a square on the diagonal both halves are computed.
_MAX_ROWS = {"cpu": 1024, "cuda": 16384}
_MAX_COLUMNS = {"cpu": 512, "cuda": 4096}
_BLOCKS_PER_SIDE = 12

# Doubtful pairs are computed one by one if they are less than this part of their rows' pairs.
_FEW_PAIRS = 1 / 16


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstPositiveRanks:
    """Ranks of the queries that have a positive, in the order of the input.

    Attributes:
        ranks_Q: int64, 1 if the nearest image is of the query's class.
        indices_Q: int64, position of the query in the input.
        labels_Q: int64, class of the query.
        num_singletons: queries without any positive; they are left out.
        num_gallery: images searched, the query itself included where it is one of them.
        num_doubtful: pairs whose cosine is within float32 rounding of their query's best positive;
            these were compared in float64.
    """

    ranks_Q: Tensor
    indices_Q: Tensor
    labels_Q: Tensor
    num_singletons: int
    num_gallery: int
    num_doubtful: int


def first_positive_ranks(
    embeddings_ND: Tensor, labels_N: Tensor, is_gallery_N: Tensor | None = None
) -> FirstPositiveRanks:
    """Where each query's first positive is; a query is left out of its own list by its index.

    Cosines are compared as if computed in float64: those within float32 rounding of the threshold
    are computed again. Cosines that agree to 1e-12 are ties.

    Args:
        embeddings_ND: embeddings of any length and float type, on any device.
        labels_N: int64 class of each image.
        is_gallery_N: bool, whether an image is in the gallery only, the others being the queries;
            None where every image is a query against all others.

    Returns:
        Tensors on the CPU.

    Raises:
        ValueError: an embedding is not finite, or the shapes disagree.
    """
    with full_precision():
        ranks = _Count(*queries_and_gallery(embeddings_ND, labels_N, is_gallery_N)).ranks()
    if is_gallery_N is None:
        return ranks
    queries = (~is_gallery_N).nonzero().squeeze(1).cpu()
    return replace(ranks, indices_Q=queries[ranks.indices_Q])


class _Count:
    """Counts, for each query, the negatives at least as similar as its best positive."""

    def __init__(self, queries: SortedRows, gallery: SortedRows) -> None:
        self._queries, self._gallery = queries, gallery
        self._is_symmetric = queries is gallery
        device = queries.unit_ND.device
        self._positives = Positives(queries, gallery)
        best_Q = self._positives.best()
        # Both sides of a comparison may be off.
        slack = 2.0 * float32_slack(queries.unit_ND.shape[1])
        self._has_positive_Q = best_Q > -inf
        best_Q.masked_fill_(~self._has_positive_Q, inf)
        self._possible_Q, self._certain_Q = best_Q - slack, best_Q + slack
        # Of a query that has a doubtful negative also the best positive is computed exactly.
        self._exact_best_Q = torch.full_like(best_Q, nan, dtype=torch.float64)
        self._above_Q = torch.zeros(len(queries), dtype=torch.int64, device=device)
        self._num_doubtful = 0
        columns = min(_MAX_COLUMNS[device.type], -(-len(gallery) // _BLOCKS_PER_SIDE))
        self._block_rows, self._block_columns = _MAX_ROWS[device.type], max(columns, 1)
        num_rows = min(self._block_rows, len(queries))
        self._cosines = torch.empty(num_rows * self._block_columns, device=device)

    def ranks(self) -> FirstPositiveRanks:
        for columns in slices(0, len(self._gallery), self._block_columns):
            stop = len(self._queries)
            if self._is_symmetric:
                stop = columns.start
                self._count_rows(self._cosines_of_negatives(columns, columns), columns, columns)
            for rows in slices(0, stop, self._block_rows):
                S_RC = self._cosines_of_negatives(rows, columns)
                self._count_rows(S_RC, rows, columns)
                if self._is_symmetric:
                    self._count_rows(S_RC.T, columns, rows)
        order_Q = self._queries.order_N.argsort()
        indices_Q = self._has_positive_Q[order_Q].cpu().nonzero().squeeze(1)
        return FirstPositiveRanks(
            ranks_Q=1 + self._above_Q[order_Q].cpu()[indices_Q],
            indices_Q=indices_Q,
            labels_Q=self._queries.labels_N[order_Q].cpu()[indices_Q],
            num_singletons=len(order_Q) - len(indices_Q),
            num_gallery=len(self._gallery),
            num_doubtful=self._num_doubtful,
        )

    def _cosines_of_negatives(self, rows: slice, columns: slice) -> Tensor:
        """In float32; -inf of the others."""
        shape = (rows.stop - rows.start, columns.stop - columns.start)
        S_RC = self._cosines[: shape[0] * shape[1]].view(shape)
        torch.mm(self._queries.unit_ND[rows], self._gallery.unit_ND[columns].T, out=S_RC)
        own = self._positives.columns(rows.start, rows.stop - 1)
        own = slice(max(own.start, columns.start), min(own.stop, columns.stop))
        if own.start < own.stop:
            is_same_RC = self._queries.labels_N[rows, None] == self._gallery.labels_N[own]
            S_RC[:, own.start - columns.start : own.stop - columns.start].masked_fill_(
                is_same_RC, -inf
            )
        return S_RC

    def _count_rows(self, S_RC: Tensor, rows: slice, columns: slice) -> None:
        # Most blocks have no negative above the best positive of most rows.
        is_open_R = S_RC.amax(1) >= self._possible_Q[rows]
        open_O = is_open_R.nonzero().squeeze(1)
        if len(open_O) == 0:
            return
        if len(open_O) < len(is_open_R):
            S_RC = S_RC[open_O]
        queries_O = open_O + rows.start
        possible_O1 = self._possible_Q[queries_O, None]
        certain_O1 = self._certain_Q[queries_O, None]
        # Comparing into a float buffer is many times faster than summing booleans.
        flags_OC = torch.empty_like(S_RC)
        possible_O = torch.ge(S_RC, possible_O1, out=flags_OC).sum(1)
        certain_O = torch.ge(S_RC, certain_O1, out=flags_OC).sum(1)
        self._above_Q[queries_O] += certain_O.long()
        doubtful_D = (possible_O != certain_O).nonzero().squeeze(1)
        if len(doubtful_D):
            S_DC = S_RC[doubtful_D]
            is_doubtful_DC = S_DC.ge(possible_O1[doubtful_D]) & S_DC.lt(certain_O1[doubtful_D])
            self._count_exactly(is_doubtful_DC, queries_O[doubtful_D], columns)

    def _count_exactly(self, is_doubtful_DC: Tensor, queries_D: Tensor, columns: slice) -> None:
        places_P, columns_P = is_doubtful_DC.nonzero(as_tuple=True)
        self._num_doubtful += len(places_P)
        if len(places_P) < _FEW_PAIRS * is_doubtful_DC.numel():
            gallery_P = columns_P + columns.start
            exact_P = exact_cosines(self._queries, queries_D[places_P], self._gallery, gallery_P)
        else:
            exact_DC = self._queries.exact(queries_D) @ self._gallery.exact(columns).T
            exact_P = exact_DC[places_P, columns_P]
        unknown_D = queries_D[self._exact_best_Q[queries_D].isnan()]
        self._exact_best_Q[unknown_D] = self._positives.exact_best(unknown_D)
        is_above_P = exact_P >= self._exact_best_Q[queries_D[places_P]] - FLOAT64_SLACK
        self._above_Q.index_add_(0, queries_D[places_P], is_above_P.long())
