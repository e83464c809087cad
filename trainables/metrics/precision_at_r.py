"""R-precision and MAP@R: how good the first R neighbours are, R being the query's positives.

The i-th most similar positive has rank i + number of negatives at least as similar. So ties count
against the query, and the first positive has the rank that Recall@K is counted from. Every query
needs no more than a list of a few more than R neighbours; the matrix of all pairs is never in
memory.

N = queries or gallery images, Q = a run of the queries, C = columns of a block, K = listed
neighbours, R = positives of the query that has most.
"""

from dataclasses import dataclass
from math import inf

import torch
from torch import Tensor

from trainables.metrics._cosines import (
    FLOAT64_SLACK,
    SortedRows,
    exact_cosines,
    float32_slack,
    full_precision,
    slices,
)
from trainables.metrics._positives import Positives
from trainables.metrics._screening import largest_products
from trainables.records import Score

__all__ = [
    "PrecisionAtR",
    "precision_at_r",
    "precision_at_r_between",
    "precision_at_r_scores",
]

# Queries whose lists are in memory at a time, and those of them, of few classes, whose positives
# are.
_CHUNK_QUERIES = 4096
_RUN_QUERIES = 32
_MAX_QUERIES = 256

# A query's list has room for its positives, itself, and a few that float32 puts before them.
_SPARE_PLACES = 8

# Queries whose cosines with all images are in float64 at the same time.
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
        num_singletons: queries without any positive; they are left out.
        num_gallery: images searched, the query itself included where it is one of them.
    """

    r_precision_Q: Tensor
    average_precision_Q: Tensor
    num_singletons: int
    num_gallery: int


def precision_at_r(embeddings_ND: Tensor, labels_N: Tensor) -> PrecisionAtR:
    """Every image is a query against all others; itself is left out by its index.

    Cosines are compared as if computed in float64: those of negatives that are within float32
    rounding of a positive's are computed again. Cosines that agree to 1e-12 are ties. So it does
    not matter whether faiss is installed.

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
        rows = SortedRows(embeddings_ND, labels_N)
        return _Ranking(rows, rows).result()


def precision_at_r_between(
    query_embeddings_QD: Tensor,
    query_labels_Q: Tensor,
    gallery_embeddings_ND: Tensor,
    gallery_labels_N: Tensor,
) -> PrecisionAtR:
    """As `precision_at_r`, for queries that are no part of the gallery."""
    with full_precision():
        queries = SortedRows(query_embeddings_QD, query_labels_Q)
        return _Ranking(queries, SortedRows(gallery_embeddings_ND, gallery_labels_N)).result()


def precision_at_r_scores(
    found: PrecisionAtR, *, role: str, strict: bool = False
) -> tuple[Score, ...]:
    """R-precision and MAP@R: the means over all queries.

    Args:
        found: of one role.
        role: ``val`` or ``test``, copied to the scores.
        strict: whether a query without any positive has the value 0 instead of being left out.

    Raises:
        ValueError: there is no query.
    """
    num_found = len(found.r_precision_Q)
    num_queries = num_found + (found.num_singletons if strict else 0)
    if num_queries == 0:
        raise ValueError(
            f"R-precision needs a query with another image of its class, but role {role!r} has "
            f"none among {found.num_singletons} queries"
        )
    values = {"r_precision": found.r_precision_Q, "map_at_r": found.average_precision_Q}
    return tuple(
        Score(
            role=role,
            metric=metric,
            value=value_Q.sum().item() / num_queries if strict else value_Q.mean().item(),
            queries=num_queries,
            gallery=found.num_gallery,
        )
        for metric, value_Q in values.items()
    )


class _Ranking:
    """Ranks the positives of each query, as far as these are at most R."""

    def __init__(self, queries: SortedRows, gallery: SortedRows) -> None:
        self._queries, self._gallery = queries, gallery
        self._positives = Positives(queries, gallery)
        self._slack = float32_slack(queries.unit_ND.shape[1])
        self._values_N2 = queries.unit_ND.new_zeros(len(queries), 2, dtype=torch.float64)

    def result(self) -> PrecisionAtR:
        every_N = torch.arange(len(self._queries), device=self._values_N2.device)
        is_open_N = torch.zeros_like(every_N, dtype=torch.bool)
        for chunk in slices(0, len(every_N), _CHUNK_QUERIES):
            self._rank_chunk(chunk, every_N, is_open_N)
        open_N = every_N[is_open_N]
        for chunk in slices(0, len(open_N), _EXACT_QUERIES):
            self._rank_in_float64(open_N[chunk])
        order_N = self._queries.order_N.argsort()
        is_query_N = (self._positives.counts_N > 0)[order_N]
        values_Q2 = self._values_N2[order_N][is_query_N].cpu()
        return PrecisionAtR(
            r_precision_Q=values_Q2[:, 0],
            average_precision_Q=values_Q2[:, 1],
            num_singletons=len(order_N) - len(values_Q2),
            num_gallery=len(self._gallery),
        )

    def _rank_chunk(self, chunk: slice, every_N: Tensor, is_open_N: Tensor) -> None:
        """Rank by float32 lists, and mark the queries of which this has to be done in float64."""
        num_listed = self._most_positives(every_N[chunk]) + _SPARE_PLACES
        products_QK, indices_QK = largest_products(
            self._queries.unit_ND[chunk],
            self._gallery.unit_ND,
            min(num_listed, len(self._gallery)),
        )
        for run in self._queries.class_runs(_RUN_QUERIES, chunk):
            for rows in slices(run.start, run.stop, _MAX_QUERIES):
                listed = slice(rows.start - chunk.start, rows.stop - chunk.start)
                is_open_N[rows] = self._rank_in_float32(
                    every_N[rows], products_QK[listed], indices_QK[listed]
                )

    def _rank_in_float32(
        self, queries_Q: Tensor, products_QK: Tensor, indices_QK: Tensor
    ) -> Tensor:
        own = self._own_columns(queries_Q)
        exact_QD = self._queries.exact(queries_Q)
        is_own = self._queries is self._gallery and len(queries_Q) == own.stop - own.start
        exact_CD = exact_QD if is_own else self._gallery.exact(own)
        S_QC = exact_QD @ exact_CD.T
        positives_QR = self._most_similar_positives(S_QC, own, queries_Q)
        # Of the others nothing is known but that they are no larger than the last one.
        is_all = products_QK.shape[1] == len(self._gallery)
        last_Q1 = products_QK.new_full((1, 1), -inf) if is_all else products_QK[:, -1:]
        is_same_QK = self._gallery.labels_N[indices_QK] == self._queries.labels_N[queries_Q, None]
        negatives_QK = products_QK.double().masked_fill_(is_same_QK, -inf)
        is_doubtful_QK = self._are_near(negatives_QK, positives_QR)
        is_crowded_Q = is_doubtful_QK.sum(1) > _MAX_DOUBTFUL
        doubtful = (is_doubtful_QK & ~is_crowded_Q[:, None]).nonzero(as_tuple=True)
        negatives_QK[doubtful] = exact_cosines(
            self._queries, queries_Q[doubtful[0]], self._gallery, indices_QK[doubtful]
        )
        above_QR = _at_least(negatives_QK.sort(dim=1).values, positives_QR - FLOAT64_SLACK)
        self._set_values(above_QR, queries_Q)
        # A negative that is not listed may be above such a positive too.
        is_open_QR = (last_Q1 >= positives_QR - self._slack) & self._may_count(above_QR, queries_Q)
        return is_crowded_Q | is_open_QR.any(1)

    def _are_near(self, cosines_QK: Tensor, positives_QR: Tensor) -> Tensor:
        """Whether float32 cosines may be on either side of that of a positive."""
        ascending_QR = positives_QR.flip(1)
        below_QK = torch.searchsorted(ascending_QR, cosines_QK - self._slack)
        not_above_QK = torch.searchsorted(ascending_QR, cosines_QK + self._slack, right=True)
        return (below_QK < not_above_QK) & cosines_QK.isfinite()

    def _rank_in_float64(self, queries_Q: Tensor) -> None:
        exact_QD = self._queries.exact(queries_Q)
        S_QN = exact_QD.new_empty(len(queries_Q), len(self._gallery))
        for columns in slices(0, len(self._gallery), _EXACT_COLUMNS):
            S_QN[:, columns] = exact_QD @ self._gallery.exact(columns).T
        own = self._own_columns(queries_Q)
        positives_QR = self._most_similar_positives(S_QN[:, own], own, queries_Q)
        is_same_QC = self._queries.labels_N[queries_Q, None] == self._gallery.labels_N[own]
        S_QN[:, own].masked_fill_(is_same_QC, -inf)
        top_QR = S_QN.topk(positives_QR.shape[1], dim=1).values.flip(1)
        self._set_values(_at_least(top_QR, positives_QR - FLOAT64_SLACK), queries_Q)

    def _own_columns(self, queries_Q: Tensor) -> slice:
        """The run of columns that holds all classes of the queries, which ascend."""
        return self._positives.columns(int(queries_Q[0]), int(queries_Q[-1]))

    def _most_similar_positives(self, S_QC: Tensor, own: slice, queries_Q: Tensor) -> Tensor:
        """Cosines of the queries' positives, descending, then -inf."""
        positives_QC = S_QC.masked_fill(self._positives.are_none(queries_Q, own), -inf)
        return positives_QC.topk(self._most_positives(queries_Q), dim=1).values

    def _most_positives(self, queries_Q: Tensor) -> int:
        return int(self._positives.counts_N[queries_Q].max())

    def _may_count(self, above_QR: Tensor, queries_Q: Tensor) -> Tensor:
        """Whether a positive with so many negatives above it is among the first R neighbours."""
        places_R = torch.arange(1, above_QR.shape[1] + 1, device=above_QR.device)
        return places_R + above_QR <= self._positives.counts_N[queries_Q, None]

    def _set_values(self, above_QR: Tensor, queries_Q: Tensor) -> None:
        places_R = torch.arange(1, above_QR.shape[1] + 1, device=above_QR.device)
        # Of a place after the last positive the rank is above R, so it counts nowhere.
        counts_QR = self._may_count(above_QR, queries_Q).double()
        precisions_QR = counts_QR * places_R / (places_R + above_QR)
        sums_Q2 = torch.stack([counts_QR.sum(1), precisions_QR.sum(1)], dim=1)
        # A singleton has sums of 0 and is left out of the result.
        num_positives_Q1 = self._positives.counts_N[queries_Q, None]
        self._values_N2[queries_Q] = sums_Q2 / num_positives_Q1.clamp(min=1)


def _at_least(ascending_QR: Tensor, thresholds_QR: Tensor) -> Tensor:
    """How many of each row's values are at least each threshold."""
    return ascending_QR.shape[1] - torch.searchsorted(ascending_QR, thresholds_QR)
