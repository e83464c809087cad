"""How many gallery images of other classes are at least as similar as a query's best positive.

Each block of cosines is computed once and counted for its rows and, where every image is a query
against all others, for its columns.

Q = queries, N = gallery images, R and C = rows and columns of a block, O = rows of it that have
negatives to count, D = those with doubtful pairs (elsewhere embedding dimension), P = pairs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import inf, nan

import torch
from torch import Tensor

from trainables.metrics._cosines import (
    FLOAT64_SLACK,
    SortedRows,
    exact_cosines,
    float32_slack,
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

# Blocks are multiplied in bfloat16 where embeddings are at least this long and the block has as
# many rows and columns; in smaller ones float32 is as fast.
_MIN_SHORT_DIM, _MIN_SHORT_SIDE = 32, 64

# bfloat16 ends where it leaves more than this part of the pairs to float64.
_MAX_SETTLED = 1 / 512


def count_negatives_above(
    queries: SortedRows,
    gallery: SortedRows,
    positives: Positives,
    best_Q: Tensor,
    exact_best: Callable[[Tensor], Tensor],
) -> tuple[Tensor, int]:
    """Negatives at least as similar to each query as its best positive, and how many were doubtful.

    Cosines are computed in bfloat16 where the processor multiplies it several times faster than
    float32, else in float32. Those that such rounding may put on the wrong side of the best
    positive are computed again in float64, so the counts do not depend on the processor.

    Args:
        queries: the queries; the same object as ``gallery`` where every image is one.
        gallery: the images searched.
        positives: the positives of these queries in this gallery.
        best_Q: float32 cosine of the best positive of each query, wherever that lies; -inf
            without any, of which nothing is counted.
        exact_best: the same in float64, of some queries in ascending order.

    Returns:
        (above_Q int64, number of negatives within float32 rounding of the best positive).
    """
    return _Count(queries, gallery, positives, best_Q, exact_best).total()


@cache
def _multiplies_bfloat16(device: str) -> bool:
    """Whether bfloat16 is several times faster than float32; of GPUs this was not measured."""
    return device == "cpu" and (
        torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Products:
    """What is multiplied, and how its products are judged.

    Attributes:
        left_QD: the queries, of length 1.
        right_ND: the gallery.
        possible_Q: a product of at least this may be above the best positive.
        certain_Q: a larger product is.
    """

    left_QD: Tensor
    right_ND: Tensor
    possible_Q: Tensor
    certain_Q: Tensor


class _Count:
    """Counts, for each query, the negatives at least as similar as its best positive."""

    def __init__(
        self,
        queries: SortedRows,
        gallery: SortedRows,
        positives: Positives,
        best_Q: Tensor,
        exact_best: Callable[[Tensor], Tensor],
    ) -> None:
        self._queries, self._gallery, self._positives = queries, gallery, positives
        self._is_symmetric = queries is gallery
        self._exact_best = exact_best
        self._threshold_Q = best_Q.masked_fill(best_Q == -inf, inf)
        # Of a query that has a doubtful negative also the best positive is computed exactly.
        self._exact_best_Q = torch.full_like(best_Q, nan, dtype=torch.float64)
        self._above_Q = torch.zeros_like(best_Q, dtype=torch.int64)
        self._num_doubtful = self._num_settled = self._num_compared = 0
        dim, device = queries.unit_ND.shape[1], best_Q.device.type
        columns = min(_MAX_COLUMNS[device], -(-len(gallery) // _BLOCKS_PER_SIDE))
        self._block_rows, self._block_columns = _MAX_ROWS[device], max(columns, 1)
        num_rows = min(self._block_rows, len(queries))
        self._buffer = best_Q.new_empty(num_rows * self._block_columns, dtype=torch.float32)
        # Both sides of a comparison may be off.
        self._slack = 2.0 * float32_slack(dim)
        self._float32 = _Products(
            left_QD=queries.unit_ND,
            right_ND=gallery.unit_ND,
            possible_Q=self._threshold_Q - self._slack,
            certain_Q=self._threshold_Q + self._slack,
        )
        self._bfloat16: _Products | None = None
        is_large = min(num_rows, self._block_columns) >= _MIN_SHORT_SIDE
        if is_large and dim >= _MIN_SHORT_DIM and _multiplies_bfloat16(device):
            self._bfloat16 = self._in_bfloat16()

    def _in_bfloat16(self) -> _Products:
        left, right = self._queries.short, self._gallery.short
        # Lengths are 1, so a product is off by what both factors were rounded by, as vectors. Its
        # own rounding keeps the order: thresholds are rounded alike.
        slack_Q = self._slack + 1.01 * (left.errors_N + right.errors_N.amax())
        return _Products(
            left_QD=left.rows_ND,
            right_ND=right.rows_ND,
            possible_Q=(self._threshold_Q - slack_Q).bfloat16(),
            certain_Q=(self._threshold_Q + slack_Q).bfloat16(),
        )

    def total(self) -> tuple[Tensor, int]:
        for columns in slices(0, len(self._gallery), self._block_columns):
            stop = len(self._queries)
            if self._is_symmetric:
                stop = columns.start
                self._count_block(columns, columns)
            for rows in slices(0, stop, self._block_rows):
                self._count_block(rows, columns)
        return self._above_Q, self._num_doubtful

    def _count_block(self, rows: slice, columns: slice) -> None:
        shape = (rows.stop - rows.start, columns.stop - columns.start)
        by = self._float32
        if self._bfloat16 is not None and min(shape) >= _MIN_SHORT_SIDE:
            by = self._bfloat16
        S_RC = self._buffer.view(by.left_QD.dtype)[: shape[0] * shape[1]].view(shape)
        torch.mm(by.left_QD[rows], by.right_ND[columns].T, out=S_RC)
        self._hide_positives(S_RC, rows, columns)
        self._count_rows(S_RC, rows, columns, by)
        if self._is_symmetric and rows != columns:
            self._count_rows(S_RC.T, columns, rows, by)
        if by is self._bfloat16:
            self._num_compared += S_RC.numel()
            if self._num_settled > _MAX_SETTLED * self._num_compared:
                self._bfloat16 = None

    def _hide_positives(self, S_RC: Tensor, rows: slice, columns: slice) -> None:
        own = self._positives.columns(rows.start, rows.stop - 1)
        own = slice(max(own.start, columns.start), min(own.stop, columns.stop))
        if own.start < own.stop:
            is_same_RC = self._queries.labels_N[rows, None] == self._gallery.labels_N[own]
            S_RC[:, own.start - columns.start : own.stop - columns.start].masked_fill_(
                is_same_RC, -inf
            )

    def _count_rows(self, S_RC: Tensor, rows: slice, columns: slice, by: _Products) -> None:
        # Most blocks have no negative above the best positive of most rows.
        is_open_R = S_RC.amax(1) >= by.possible_Q[rows]
        open_O = is_open_R.nonzero().squeeze(1)
        if len(open_O) == 0:
            return
        if len(open_O) < len(is_open_R):
            S_RC = S_RC[open_O]
        queries_O = open_O + rows.start
        possible_O1, certain_O1 = by.possible_Q[queries_O, None], by.certain_Q[queries_O, None]
        # Comparing into a float buffer is many times faster than summing booleans.
        flags_OC = torch.empty_like(S_RC)
        possible_O = torch.ge(S_RC, possible_O1, out=flags_OC).sum(1, dtype=torch.float32)
        certain_O = torch.gt(S_RC, certain_O1, out=flags_OC).sum(1, dtype=torch.float32)
        self._above_Q[queries_O] += certain_O.long()
        doubtful_D = (possible_O != certain_O).nonzero().squeeze(1)
        if len(doubtful_D):
            S_DC = S_RC[doubtful_D]
            is_doubtful_DC = S_DC.ge(possible_O1[doubtful_D]) & S_DC.le(certain_O1[doubtful_D])
            self._settle(is_doubtful_DC, queries_O[doubtful_D], columns)

    def _settle(self, is_doubtful_DC: Tensor, queries_D: Tensor, columns: slice) -> None:
        places_P, columns_P = is_doubtful_DC.nonzero(as_tuple=True)
        queries_P = queries_D[places_P]
        self._num_settled += len(places_P)
        if len(places_P) < _FEW_PAIRS * is_doubtful_DC.numel():
            gallery_P = columns_P + columns.start
            exact_P = exact_cosines(self._queries, queries_P, self._gallery, gallery_P)
        else:
            exact_DC = self._queries.exact(queries_D) @ self._gallery.exact(columns).T
            exact_P = exact_DC[places_P, columns_P]
        threshold_P = self._threshold_Q[queries_P].double()
        is_above_P = exact_P >= threshold_P
        close_P = ((exact_P - threshold_P).abs() <= self._slack).nonzero().squeeze(1)
        if len(close_P):
            close_queries_P = queries_P[close_P]
            best_P = self._exact_best_of(close_queries_P)
            is_above_P[close_P] = exact_P[close_P] >= best_P - FLOAT64_SLACK
            self._num_doubtful += len(close_P)
        self._above_Q.index_add_(0, queries_P, is_above_P.long())

    def _exact_best_of(self, queries_P: Tensor) -> Tensor:
        unknown_D = queries_P[self._exact_best_Q[queries_P].isnan()].unique()
        if len(unknown_D):
            self._exact_best_Q[unknown_D] = self._exact_best(unknown_D)
        return self._exact_best_Q[queries_P]
