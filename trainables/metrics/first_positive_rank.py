"""The rank of every query's best positive: one number that holds Recall@K for every K.

rank = 1 + number of negatives at least as similar as the most similar positive. So ties count
against the query: a collapsed embedding scores 0, not 1. No neighbour list is sorted or kept.

N = rows, Q = queries, D = embedding dimension.
"""

from dataclasses import dataclass
from math import inf

from torch import Tensor

from podium.trainables.metrics._cosines import full_precision, queries_and_gallery
from podium.trainables.metrics._negatives import count_negatives_above
from podium.trainables.metrics._positives import Positives
from podium.trainables.tasks import Geometry


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
    embeddings_ND: Tensor,
    labels_N: Tensor,
    is_gallery_N: Tensor | None = None,
    geometry: Geometry = "cosine",
) -> FirstPositiveRanks:
    """Where each query's first positive is; a query is left out of its own list by its index.

    Cosines are compared as if computed in float64: those within float32 rounding of the threshold
    are computed again. Cosines that agree to 1e-12 are ties. Of other geometries this holds for
    the products that `trainables.geometry.lifted` orders pairs by.

    Args:
        embeddings_ND: embeddings of any length and float type, on any device.
        labels_N: int64 class of each image.
        is_gallery_N: bool, whether an image is in the gallery only, the others being the queries;
            None where every image is a query against all others.
        geometry: by which distance images are retrieved.

    Returns:
        Tensors on the CPU.

    Raises:
        ValueError: an embedding is not finite, or the shapes disagree.
    """
    with full_precision():
        queries, gallery = queries_and_gallery(embeddings_ND, labels_N, is_gallery_N, geometry)
        positives = Positives(queries, gallery)
        best_Q = positives.best()
        above_Q, num_doubtful = count_negatives_above(
            queries, gallery, positives, best_Q, positives.exact_best
        )
    order_Q = queries.order_N.argsort()
    rows_Q = (best_Q > -inf)[order_Q].nonzero().squeeze(1)
    indices_Q = rows_Q.cpu()
    if is_gallery_N is not None:
        indices_Q = (~is_gallery_N).nonzero().squeeze(1).cpu()[indices_Q]
    return FirstPositiveRanks(
        ranks_Q=1 + above_Q[order_Q][rows_Q].cpu(),
        indices_Q=indices_Q,
        labels_Q=queries.labels_N[order_Q][rows_Q].cpu(),
        num_singletons=len(order_Q) - len(rows_Q),
        num_gallery=len(gallery),
        num_doubtful=num_doubtful,
    )
