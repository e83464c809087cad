"""R-precision and MAP@R: how good the first R neighbours are, R being the query's positives.

The i-th most similar positive has rank i + number of negatives at least as similar. So ties count
against the query, and the first positive has the rank that Recall@K is counted from. Every query
needs no more than its R most similar negatives; the matrix of all pairs is never in memory.

N = images, each a query against all others, Q = a chunk of the queries, C = columns of a block,
R = positives of the query that has most.
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
from trainables.records import Score

__all__ = ["PrecisionAtR", "precision_at_r", "precision_at_r_scores"]

# A chunk holds a matrix of this many rows and N columns in float32, or two in float64.
_CHUNK_QUERIES = 256
_EXACT_QUERIES = 128

# Columns that are converted to float64 at a time.
_EXACT_COLUMNS = 2048

# Doubtful cosines of one query: so many are computed again one by one, more with the whole row.
_MAX_DOUBTFUL = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class PrecisionAtR:
    """Both numbers of every query that has a positive, in the order of the input.

    Attributes:
        r_precision_Q: float64, the part of the first R neighbours that are positives.
        average_precision_Q: float64, sum over the positives among the first R neighbours of the
            precision at their rank, divided by R.
        num_images: queries and singletons: images without any positive, which are left out.
    """

    r_precision_Q: Tensor
    average_precision_Q: Tensor
    num_images: int


def precision_at_r(embeddings_ND: Tensor, labels_N: Tensor) -> PrecisionAtR:
    """Every image is a query against all others; itself is left out by its index.

    Cosines are compared as if computed in float64: those of negatives that are within float32
    rounding of a positive's are computed again. Cosines that agree to 1e-12 are ties.

    Source: Musgrave et al. 2020, A Metric Learning Reality Check, section 3.2.

    Args:
        embeddings_ND: of any length and float type, on any device.
        labels_N: int64 classes.

    Returns:
        Tensors on the CPU.

    Raises:
        ValueError: an embedding is not finite, or the shapes disagree.
    """
    with full_precision():
        return _Ranking(SortedRows(embeddings_ND, labels_N)).result()


def precision_at_r_scores(found: PrecisionAtR, *, role: str) -> tuple[Score, ...]:
    """R-precision and MAP@R: the means over all queries.

    Args:
        found: of one role.
        role: ``val`` or ``test``, copied to the scores.

    Raises:
        ValueError: no query has a positive.
    """
    num_queries = len(found.r_precision_Q)
    if num_queries == 0:
        raise ValueError(
            f"R-precision needs a query with another image of its class, but role {role!r} has "
            f"none among {found.num_images} images"
        )
    values = {"r_precision": found.r_precision_Q, "map_at_r": found.average_precision_Q}
    return tuple(
        Score(
            role=role,
            metric=metric,
            value=value_Q.mean().item(),
            queries=num_queries,
            gallery=found.num_images,
        )
        for metric, value_Q in values.items()
    )


class _Ranking:
    """Ranks the positives of each row, as far as these are at most R."""

    def __init__(self, rows: SortedRows) -> None:
        self._rows = rows
        self._firsts_N = torch.searchsorted(rows.labels_N, rows.labels_N)
        self._lasts_N = torch.searchsorted(rows.labels_N, rows.labels_N, right=True)
        self._num_positives_N = self._lasts_N - self._firsts_N - 1
        self._slack = float32_slack(rows.unit_ND.shape[1])
        self._buffer = rows.unit_ND.new_empty(min(_CHUNK_QUERIES, len(rows)), len(rows))
        self._values_N2 = torch.zeros(len(rows), 2, dtype=torch.float64).to(rows.unit_ND.device)

    def result(self) -> PrecisionAtR:
        every_N = torch.arange(len(self._rows), device=self._values_N2.device)
        is_open_N = torch.zeros_like(every_N, dtype=torch.bool)
        for chunk in slices(0, len(every_N), _CHUNK_QUERIES):
            is_open_N[chunk] = self._rank_in_float32(every_N[chunk])
        open_N = every_N[is_open_N]
        for chunk in slices(0, len(open_N), _EXACT_QUERIES):
            self._rank_in_float64(open_N[chunk])
        order_N = self._rows.order_N.argsort()
        values_Q2 = self._values_N2[order_N][self._num_positives_N[order_N] > 0].cpu()
        return PrecisionAtR(
            r_precision_Q=values_Q2[:, 0],
            average_precision_Q=values_Q2[:, 1],
            num_images=len(self._rows),
        )

    def _rank_in_float32(self, queries_Q: Tensor) -> Tensor:
        """Rank the positives of a run of rows, and say of which this has to be done in float64."""
        own = self._own_columns(queries_Q)
        S_QC = self._rows.exact(queries_Q) @ self._rows.exact(own).T
        positives_QR = self._positives(S_QC, own, queries_Q)
        S_QN = self._buffer[: len(queries_Q)]
        torch.mm(self._rows.unit_ND[queries_Q], self._rows.unit_ND.T, out=S_QN)
        top_QR, indices_QR = self._most_similar_negatives(S_QN, queries_Q)
        lowest_Q1 = top_QR[:, :1].clone()
        is_doubtful_QR = self._are_near(top_QR, positives_QR)
        is_crowded_Q = is_doubtful_QR.sum(1) > _MAX_DOUBTFUL
        doubtful = (is_doubtful_QR & ~is_crowded_Q[:, None]).nonzero(as_tuple=True)
        top_QR[doubtful] = self._exact_cosines(queries_Q[doubtful[0]], indices_QR[doubtful])
        above_QR = _at_least(top_QR.sort(dim=1).values, positives_QR - FLOAT64_SLACK)
        self._set_values(above_QR, queries_Q)
        # A negative that is not among the most similar ones may be above such a positive too.
        is_open_QR = (lowest_Q1 >= positives_QR - self._slack) & self._may_count(
            above_QR, queries_Q
        )
        return is_crowded_Q | is_open_QR.any(1)

    def _are_near(self, cosines_QR: Tensor, positives_QR: Tensor) -> Tensor:
        """Whether float32 cosines may be on either side of that of a positive."""
        ascending_QR = positives_QR.flip(1)
        below_QR = torch.searchsorted(ascending_QR, cosines_QR - self._slack)
        not_above_QR = torch.searchsorted(ascending_QR, cosines_QR + self._slack, right=True)
        return (below_QR < not_above_QR) & cosines_QR.isfinite()

    def _exact_cosines(self, rows_P: Tensor, columns_P: Tensor) -> Tensor:
        """In float64, of pairs P of rows."""
        exact_P = torch.empty_like(rows_P, dtype=torch.float64)
        for pairs in slices(0, len(rows_P), _EXACT_COLUMNS):
            left_PD, right_PD = (self._rows.exact(side[pairs]) for side in (rows_P, columns_P))
            exact_P[pairs] = (left_PD * right_PD).sum(1)
        return exact_P

    def _rank_in_float64(self, queries_Q: Tensor) -> None:
        exact_QD = self._rows.exact(queries_Q)
        S_QN = exact_QD.new_empty(len(queries_Q), len(self._rows))
        for columns in slices(0, len(self._rows), _EXACT_COLUMNS):
            S_QN[:, columns] = exact_QD @ self._rows.exact(columns).T
        own = self._own_columns(queries_Q)
        positives_QR = self._positives(S_QN[:, own], own, queries_Q)
        top_QR, _ = self._most_similar_negatives(S_QN, queries_Q)
        self._set_values(_at_least(top_QR, positives_QR - FLOAT64_SLACK), queries_Q)

    def _own_columns(self, queries_Q: Tensor) -> slice:
        """The run of columns that holds all classes of the queries, which ascend."""
        return slice(int(self._firsts_N[queries_Q[0]]), int(self._lasts_N[queries_Q[-1]]))

    def _positives(self, S_QC: Tensor, own: slice, queries_Q: Tensor) -> Tensor:
        """Cosines of the queries' positives, descending, then -inf."""
        columns_C = torch.arange(own.start, own.stop, device=queries_Q.device)
        is_none_QC = self._rows.labels_N[queries_Q, None] != self._rows.labels_N[own]
        is_none_QC |= columns_C == queries_Q[:, None]
        positives_QC = S_QC.masked_fill(is_none_QC, -inf)
        return positives_QC.topk(self._most_positives(queries_Q), dim=1).values

    def _most_similar_negatives(self, S_QN: Tensor, queries_Q: Tensor) -> tuple[Tensor, Tensor]:
        """Cosines of R negatives and their rows, ascending; -inf where there are not so many."""
        own = self._own_columns(queries_Q)
        is_same_QC = self._rows.labels_N[queries_Q, None] == self._rows.labels_N[own]
        S_QN[:, own].masked_fill_(is_same_QC, -inf)
        top = S_QN.topk(self._most_positives(queries_Q), dim=1)
        return top.values.flip(1).double(), top.indices.flip(1)

    def _most_positives(self, queries_Q: Tensor) -> int:
        return int(self._num_positives_N[queries_Q].max())

    def _may_count(self, above_QR: Tensor, queries_Q: Tensor) -> Tensor:
        """Whether a positive with so many negatives above it is among the first R neighbours."""
        places_R = torch.arange(1, above_QR.shape[1] + 1, device=above_QR.device)
        return places_R + above_QR <= self._num_positives_N[queries_Q, None]

    def _set_values(self, above_QR: Tensor, queries_Q: Tensor) -> None:
        places_R = torch.arange(1, above_QR.shape[1] + 1, device=above_QR.device)
        # Of a place after the last positive the rank is above R, so it counts nowhere.
        counts_QR = self._may_count(above_QR, queries_Q).double()
        precisions_QR = counts_QR * places_R / (places_R + above_QR)
        sums_Q2 = torch.stack([counts_QR.sum(1), precisions_QR.sum(1)], dim=1)
        # A singleton has sums of 0 and is left out of the result.
        self._values_N2[queries_Q] = sums_Q2 / self._num_positives_N[queries_Q, None].clamp(min=1)


def _at_least(ascending_QR: Tensor, thresholds_QR: Tensor) -> Tensor:
    """How many of each row's values are at least each threshold."""
    return ascending_QR.shape[1] - torch.searchsorted(ascending_QR, thresholds_QR)
