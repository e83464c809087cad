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

from podium.trainables.metrics._cosines import (
    FLOAT64_SLACK,
    SortedRows,
    exact_cosines,
    float32_slack,
    full_precision,
    queries_and_gallery,
    slices,
)
from podium.trainables.metrics._positives import Positives
from podium.trainables.metrics._screening import largest_products
from podium.trainables.tasks import Geometry
from podium.trainables.trial_reports import Score

# Listed neighbours that are in memory at a time, of so many queries at most.
_LISTED = 2**19
_MAX_QUERIES = 4096

# A query's list has room for its positives, itself, and a few that float32 puts before them.
_SPARE_PLACES = 8

# Queries whose cosines with all images are in float64 at the same time.
_EXACT_QUERIES = 128

# Columns that are converted to float64 at a time.
_EXACT_COLUMNS = 2048

# Doubtful cosines of one query: so many are computed again one by one, more with the whole row.
_MAX_DOUBTFUL = 24


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


def precision_at_r(
    embeddings_ND: Tensor,
    labels_N: Tensor,
    is_gallery_N: Tensor | None = None,
    geometry: Geometry = "cosine",
) -> PrecisionAtR:
    """Both numbers of every query; it is left out of its own list by its index.

    Cosines are compared as if computed in float64: those of negatives that are within float32
    rounding of a positive's are computed again. Cosines that agree to 1e-12 are ties. So it does
    not matter whether faiss is installed.

    Source: Musgrave et al. 2020, A Metric Learning Reality Check, section 3.2.

    Args:
        embeddings_ND: embeddings of any length and float type, on any device.
        labels_N: int64 class of each image.
        is_gallery_N: bool, whether an image is in the gallery only, the others being the queries;
            None where every image is a query against all others.
        geometry: by which distance neighbours are ranked; see `first_positive_ranks`.

    Returns:
        Tensors on the CPU.

    Raises:
        ValueError: an embedding is not finite, or the shapes disagree.
    """
    with full_precision():
        rows = queries_and_gallery(embeddings_ND, labels_N, is_gallery_N, geometry)
        return _Ranking(*rows).result()


def precision_at_r_scores(
    found: PrecisionAtR, *, role: str, strict: bool = False
) -> tuple[Score, ...]:
    """R-precision and MAP@R: the means over all queries.

    Args:
        found: R-precision and average precision of the queries of one role.
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
        # Both sides of a comparison may be off.
        self._slack = 2.0 * float32_slack(queries.unit_ND.shape[1])
        self._values_N2 = queries.unit_ND.new_zeros(len(queries), 2, dtype=torch.float64)

    def result(self) -> PrecisionAtR:
        every_N = torch.arange(len(self._queries), device=self._values_N2.device)
        is_open_N = torch.zeros_like(every_N, dtype=torch.bool)
        size = _LISTED // (int(self._positives.counts_N.max()) + _SPARE_PLACES)
        for chunk in slices(0, len(every_N), min(max(size, 1), _MAX_QUERIES)):
            is_open_N[chunk] = self._rank_in_float32(every_N[chunk])
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

    def _rank_in_float32(self, queries_Q: Tensor) -> Tensor:
        """Rank by float32 lists, and say of which queries this has to be done in float64."""
        num_listed = self._most_positives(queries_Q) + _SPARE_PLACES
        products_QK, indices_QK = largest_products(
            self._queries.as_queries(self._queries.unit_ND[queries_Q]),
            self._gallery.unit_ND,
            min(num_listed, len(self._gallery)),
        )
        is_same_QK = self._gallery.labels_N[indices_QK] == self._queries.labels_N[queries_Q, None]
        is_other_QK = torch.ones_like(is_same_QK)
        if self._queries is self._gallery:
            is_other_QK = indices_QK != queries_Q[:, None]
        is_doubtful_QK = self._are_doubtful(products_QK, is_same_QK)
        is_crowded_Q = is_doubtful_QK.sum(1) > _MAX_DOUBTFUL
        rows_P, places_P = (is_doubtful_QK & ~is_crowded_Q[:, None]).nonzero(as_tuple=True)
        cosines_QK = products_QK.double()
        cosines_QK[rows_P, places_P] = exact_cosines(
            self._queries, queries_Q[rows_P], self._gallery, indices_QK[rows_P, places_P]
        )
        # A positive comes after the negatives it ties with.
        cosines_QK -= FLOAT64_SLACK * is_same_QK.double()
        cosines_QK, order_QK = cosines_QK.sort(dim=1, descending=True, stable=True)
        is_positive_QK = (is_same_QK & is_other_QK).gather(1, order_QK)
        is_within_QK = self._set_values(is_positive_QK, is_other_QK.gather(1, order_QK), queries_Q)
        if products_QK.shape[1] == len(self._gallery):
            return is_crowded_Q
        # An image that is not listed may be above such a rank too.
        lowest_Q = cosines_QK.masked_fill(~is_within_QK, inf).amin(1)
        return is_crowded_Q | (lowest_Q <= products_QK[:, -1] + self._slack)

    def _are_doubtful(self, descending_QK: Tensor, is_same_QK: Tensor) -> Tensor:
        """Whether a positive and a negative may have swapped ranks by float32 rounding.

        Neighbours in a list whose cosines are so near are of one run; it is in doubt where it
        holds both.
        """
        is_linked_QK = torch.zeros_like(is_same_QK)
        is_linked_QK[:, 1:] = descending_QK[:, :-1] - descending_QK[:, 1:] <= self._slack
        runs_QK = (~is_linked_QK).cumsum(1) - 1
        changes_QK = is_linked_QK.long()
        changes_QK[:, 1:] *= is_same_QK[:, :-1] != is_same_QK[:, 1:]
        num_changes_QK = torch.zeros_like(runs_QK).scatter_add_(1, runs_QK, changes_QK)
        return num_changes_QK.gather(1, runs_QK) > 0

    def _rank_in_float64(self, queries_Q: Tensor) -> None:
        exact_QD = self._queries.as_queries(self._queries.exact(queries_Q))
        S_QN = exact_QD.new_empty(len(queries_Q), len(self._gallery))
        for columns in slices(0, len(self._gallery), _EXACT_COLUMNS):
            S_QN[:, columns] = exact_QD @ self._gallery.exact(columns).T
        is_same_QN = self._gallery.labels_N == self._queries.labels_N[queries_Q, None]
        S_QN -= FLOAT64_SLACK * is_same_QN.double()
        if self._queries is self._gallery:
            S_QN.scatter_(1, queries_Q[:, None], -inf)
        num_listed = min(self._most_positives(queries_Q), len(self._gallery))
        indices_QR = S_QN.topk(num_listed, dim=1).indices
        is_positive_QR = is_same_QN.gather(1, indices_QR)
        self._set_values(is_positive_QR, torch.ones_like(is_positive_QR), queries_Q)

    def _most_positives(self, queries_Q: Tensor) -> int:
        return int(self._positives.counts_N[queries_Q].max())

    def _set_values(
        self, is_positive_QK: Tensor, is_other_QK: Tensor, queries_Q: Tensor
    ) -> Tensor:
        """Values of queries from their ranked neighbours; which of these are the first R."""
        num_positives_Q1 = self._positives.counts_N[queries_Q, None]
        ranks_QK = is_other_QK.cumsum(1)
        is_within_QK = is_other_QK & (ranks_QK <= num_positives_Q1)
        hits_QK = (is_positive_QK & is_within_QK).double()
        precisions_QK = hits_QK * hits_QK.cumsum(1) / ranks_QK.clamp(min=1)
        sums_Q2 = torch.stack([hits_QK.sum(1), precisions_QK.sum(1)], dim=1)
        # A singleton has sums of 0 and is left out of the result.
        self._values_N2[queries_Q] = sums_Q2 / num_positives_Q1.clamp(min=1)
        return is_within_QK
