"""How many gallery images of other classes are at least as similar as a query's best positive.

Each block of cosines is computed once and counted for its rows and, where every image is a query
against all others, for its columns.

Q = queries, N = gallery images, R and C = rows and columns of a block, O = rows of it that have
negatives to count, D = those with doubtful pairs (elsewhere embedding dimension), P = pairs.
"""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from math import inf, nan

import torch
from torch import Tensor

from podium.trainables.metrics._cosines import (
    FEW_PAIRS,
    FLOAT64_SLACK,
    SortedRows,
    deal,
    exact_cosines,
    float32_slack,
    slices,
)
from podium.trainables.metrics._positives import Positives

# Rows and columns of a block, at most: a block is all the memory taken beside the embeddings. On a
# CPU few columns, since of a square on the diagonal both halves are computed; a GPU waits for
# commands where blocks are small.
_MAX_ROWS = {"cpu": 1024, "cuda": 16384}
_MAX_COLUMNS = {"cpu": 512, "cuda": 16384}
_BLOCKS_PER_SIDE = 12

# So many doubtful pairs wait until they are computed together.
_MAX_WAITING = 2**15

# Blocks are multiplied in bfloat16 where embeddings are at least this long and the block has as
# many rows and columns; in smaller ones float32 is as fast.
_MIN_SHORT_DIM, _MIN_SHORT_SIDE = 64, 128

# bfloat16 ends where it leaves more than this part of the pairs to float64.
_MAX_SETTLED = 1 / 1024


def count_negatives_above(
    queries: SortedRows,
    gallery: SortedRows,
    positives: Positives,
    best_Q: Tensor,
    exact_best: Callable[[Tensor], Tensor],
) -> tuple[Tensor, int]:
    """How many negatives are at least as similar to each query as its best positive.

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
    common = _Common(queries, gallery, positives, best_Q, exact_best)
    parts = threading.local()  # counts of a thread are its own, since blocks share queries
    counts: list[_Count] = []

    def count(block: tuple[slice, slice]) -> None:
        if not hasattr(parts, "count"):
            parts.count = _Count(common)
            counts.append(parts.count)
        parts.count.add(*block)

    deal(count, common.blocks(), best_Q.device.type)
    above_Q = torch.zeros_like(best_Q, dtype=torch.int64)
    for part in counts:
        part.settle()
        above_Q += part.above_Q
    return above_Q, sum(part.num_doubtful for part in counts)


@cache
def multiplies_bfloat16(device: str) -> bool:
    """Whether bfloat16 is several times faster than float32."""
    if device == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Products:
    """What is multiplied, and how its products are judged.

    Attributes:
        left_QD: the queries, of length 1.
        right_ND: the gallery.
        compared_as: type whose order is that of the products.
        open_Q: of that type, what the largest product of a query must reach to be looked at.
        possible_Q: float32; a product of at least this may be above the best positive.
        certain_Q: float32; a larger product is.
    """

    left_QD: Tensor
    right_ND: Tensor
    compared_as: torch.dtype
    open_Q: Tensor
    possible_Q: Tensor
    certain_Q: Tensor


class _Common:
    """What the counts of all threads share and none of them changes."""

    def __init__(
        self,
        queries: SortedRows,
        gallery: SortedRows,
        positives: Positives,
        best_Q: Tensor,
        exact_best: Callable[[Tensor], Tensor],
    ) -> None:
        self.queries, self.gallery, self.positives = queries, gallery, positives
        self.exact_best = exact_best
        self.is_symmetric = queries is gallery
        self.threshold_Q = best_Q.masked_fill(best_Q == -inf, inf)
        dim, device = queries.unit_ND.shape[1], best_Q.device.type
        columns = min(_MAX_COLUMNS[device], -(-len(gallery) // _BLOCKS_PER_SIDE))
        self.block_columns = max(columns, 1)
        self.block_rows = min(_MAX_ROWS[device], len(queries))
        # Both sides of a comparison may be off.
        self.slack = 2.0 * float32_slack(dim)
        possible_Q = self.threshold_Q - self.slack
        self.float32 = _Products(
            left_QD=queries.as_queries(queries.unit_ND),
            right_ND=gallery.unit_ND,
            compared_as=torch.float32,
            open_Q=possible_Q,
            possible_Q=possible_Q,
            certain_Q=self.threshold_Q + self.slack,
        )
        is_large = min(self.block_rows, columns) >= _MIN_SHORT_SIDE
        is_short = is_large and dim >= _MIN_SHORT_DIM and multiplies_bfloat16(device)
        self.bfloat16 = self._in_bfloat16() if is_short else None

    def _in_bfloat16(self) -> _Products:
        left_QD, left_errors_Q = self.queries.short
        right_ND, right_errors_N = self.gallery.short
        # Lengths are 1, so a product is off by what both factors were rounded by, as vectors. Its
        # own rounding keeps the order: thresholds are rounded alike.
        slack_Q = self.slack + 1.01 * (left_errors_Q + right_errors_N.amax())
        possible_Q = (self.threshold_Q - slack_Q).bfloat16()
        # The bits of positive numbers are in their order, and the largest integer is found eight
        # times faster. Where negative products are possible, all rows are looked at.
        bits_Q = possible_Q.view(torch.int16)
        return _Products(
            left_QD=self.queries.as_queries(left_QD),
            right_ND=right_ND,
            compared_as=torch.int16,
            open_Q=bits_Q.masked_fill(possible_Q <= 0.0, torch.iinfo(torch.int16).min),
            possible_Q=possible_Q.float(),
            certain_Q=(self.threshold_Q + slack_Q).bfloat16().float(),
        )

    def blocks(self) -> Iterator[tuple[slice, slice]]:
        """Rows and columns; where every image is a query, one half of all and the diagonal."""
        for columns in slices(0, len(self.gallery), self.block_columns):
            if self.is_symmetric:
                yield columns, columns
            stop = columns.start if self.is_symmetric else len(self.queries)
            for rows in slices(0, stop, self.block_rows):
                yield rows, columns


class _Count:
    """Counts, for each query, the negatives at least as similar as its best positive."""

    def __init__(self, common: _Common) -> None:
        self._common = common
        self._queries, self._gallery = common.queries, common.gallery
        self._bfloat16 = common.bfloat16
        self._buffer = common.threshold_Q.new_empty(common.block_rows * common.block_columns)
        # Of a query that has a doubtful negative also the best positive is computed exactly.
        self._exact_best_Q = torch.full_like(common.threshold_Q, nan, dtype=torch.float64)
        self.above_Q = torch.zeros_like(common.threshold_Q, dtype=torch.int64)
        self.num_doubtful = self._num_settled = self._num_compared = 0
        self._waiting: list[tuple[Tensor, Tensor]] = []
        self._num_waiting = 0

    def add(self, rows: slice, columns: slice) -> None:
        shape = (rows.stop - rows.start, columns.stop - columns.start)
        by = self._common.float32
        if self._bfloat16 is not None and min(shape) >= _MIN_SHORT_SIDE:
            by = self._bfloat16
        S_RC = self._buffer.view(by.left_QD.dtype)[: shape[0] * shape[1]].view(shape)
        torch.mm(by.left_QD[rows], by.right_ND[columns].T, out=S_RC)
        self._hide_positives(S_RC, rows, columns)
        self._count_rows(S_RC, rows, columns, by)
        if self._common.is_symmetric and rows != columns:
            self._count_rows(S_RC.T, columns, rows, by)
        if by is self._bfloat16:
            self._num_compared += S_RC.numel()
            if self._num_settled > _MAX_SETTLED * self._num_compared:
                self._bfloat16 = None

    def _hide_positives(self, S_RC: Tensor, rows: slice, columns: slice) -> None:
        own = self._common.positives.columns(rows.start, rows.stop - 1)
        own = slice(max(own.start, columns.start), min(own.stop, columns.stop))
        if own.start < own.stop:
            is_same_RC = self._queries.labels_N[rows, None] == self._gallery.labels_N[own]
            S_RC[:, own.start - columns.start : own.stop - columns.start].masked_fill_(
                is_same_RC, -inf
            )

    def _count_rows(self, S_RC: Tensor, rows: slice, columns: slice, by: _Products) -> None:
        # Most blocks have no negative above the best positive of most rows.
        is_open_R = S_RC.view(by.compared_as).amax(1) >= by.open_Q[rows]
        open_O = is_open_R.nonzero().squeeze(1)
        if len(open_O) == 0:
            return
        if len(open_O) < len(is_open_R):
            S_RC = S_RC.index_select(0, open_O)
        S_RC, queries_O = S_RC.float(), open_O + rows.start
        possible_O1, certain_O1 = by.possible_Q[queries_O, None], by.certain_Q[queries_O, None]
        # Comparing into a float buffer is many times faster than summing booleans.
        flags_OC = torch.empty_like(S_RC)
        possible_O = torch.ge(S_RC, possible_O1, out=flags_OC).sum(1)
        certain_O = torch.gt(S_RC, certain_O1, out=flags_OC).sum(1)
        self.above_Q[queries_O] += certain_O.long()
        doubtful_D = (possible_O != certain_O).nonzero().squeeze(1)
        if len(doubtful_D):
            S_DC = S_RC[doubtful_D]
            is_doubtful_DC = S_DC.ge(possible_O1[doubtful_D]) & S_DC.le(certain_O1[doubtful_D])
            self._add_doubtful(is_doubtful_DC, queries_O[doubtful_D], columns)

    def _add_doubtful(self, is_doubtful_DC: Tensor, queries_D: Tensor, columns: slice) -> None:
        places_P, columns_P = is_doubtful_DC.nonzero(as_tuple=True)
        self._num_settled += len(places_P)
        if len(places_P) < FEW_PAIRS * is_doubtful_DC.numel():
            self._waiting.append((queries_D[places_P], columns_P + columns.start))
            self._num_waiting += len(places_P)
            if self._num_waiting >= _MAX_WAITING:
                self.settle()
        else:
            exact_DD = self._queries.as_queries(self._queries.exact(queries_D))
            exact_DC = exact_DD @ self._gallery.exact(columns).T
            self._add_exact(queries_D[places_P], exact_DC[places_P, columns_P])

    def settle(self) -> None:
        """Count the doubtful pairs that wait to be computed in float64."""
        if self._waiting:
            queries_P, gallery_P = (torch.cat(part) for part in zip(*self._waiting, strict=True))
            self._waiting.clear()
            self._num_waiting = 0
            exact_P = exact_cosines(self._queries, queries_P, self._gallery, gallery_P)
            self._add_exact(queries_P, exact_P)

    def _add_exact(self, queries_P: Tensor, exact_P: Tensor) -> None:
        threshold_P = self._common.threshold_Q[queries_P].double()
        is_above_P = exact_P >= threshold_P
        close_P = ((exact_P - threshold_P).abs() <= self._common.slack).nonzero().squeeze(1)
        if len(close_P):
            best_P = self._exact_best_of(queries_P[close_P])
            is_above_P[close_P] = exact_P[close_P] >= best_P - FLOAT64_SLACK
            self.num_doubtful += len(close_P)
        self.above_Q.index_add_(0, queries_P, is_above_P.long())

    def _exact_best_of(self, queries_P: Tensor) -> Tensor:
        unknown_D = torch.unique(queries_P[self._exact_best_Q[queries_P].isnan()])
        if len(unknown_D):
            self._exact_best_Q[unknown_D] = self._common.exact_best(unknown_D)
        return self._exact_best_Q[queries_P]
