"""Recall@K of test images among as few classes as validation had.

N = images sorted by class, D = embedding dimension, C = classes, R = random draws, B = a block of
queries.

Recall@K falls as classes are added whatever the embedding does, so validation minus test is mostly
an effect of the size of the gallery. On random subsets of the test classes, as many as validation
has, the two are on one scale: the idea of Grouped Recall@K (Zhdanov and Karpukhin 2023), with
independent draws.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DRAWS = 400
"""Number of draws of classes; with 40 the mean was half a point off, in all networks alike."""

_TIE = 1e-12  # cosines that agree to this are ties
_ENDS = (2.5, 97.5)
_BLOCK = 2**18  # similarities held at once; few, so that they stay in the cache


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedRecall:
    """Recall@K over draws of classes, as shares.

    Attributes:
        mean: hits of all draws over their queries.
        low: 2.5 % quantile over draws: how recalls vary by the choice of classes alone, not an
            error of the mean.
        high: 97.5 % quantile over draws.
    """

    mean: float
    low: float
    high: float


def matched_recall(
    embeddings_ND: NDArray[np.float32],
    labels_N: NDArray[np.int64],
    *,
    k: int,
    num_classes: int,
    by_direction: bool,
    seed: int = 0,
) -> MatchedRecall | None:
    """Recall@K within random classes, each image a query against all others of the draw.

    There are `DRAWS` draws, or a single one if all classes are taken.
    Ties count against the query; one without another image of its class is left out.

    Args:
        embeddings_ND: embeddings of the test images, of any length.
        labels_N: class of each image.
        k: K of Recall@K, from 1.
        num_classes: number of classes of a draw, from 1.
        by_direction: whether nearness is by cosine; by distance otherwise.
        seed: equal seeds give equal draws.

    Returns:
        None with fewer classes than ``num_classes``, or without any query.
    """
    classes, sizes_C = np.unique(labels_N, return_counts=True)
    if num_classes > len(classes):
        return None
    generator = np.random.default_rng(seed)
    is_drawn_CR = np.zeros((len(classes), 1 if num_classes == len(classes) else DRAWS))
    for column_C in is_drawn_CR.T:
        column_C[generator.permutation(len(classes))[:num_classes]] = 1
    order_N = np.argsort(labels_N, kind="stable")
    rivals_NC = _rivals(embeddings_ND[order_N].astype(np.float64), sizes_C, by_direction)
    # A rank is one more than the rivals within the classes drawn: counts are exact in float32.
    is_near_NR = rivals_NC @ is_drawn_CR.astype(np.float32) < k
    is_query_CR = (is_drawn_CR > 0) & (sizes_C > 1)[:, None]
    is_near_NR &= np.repeat(is_query_CR, sizes_C, axis=0)
    return _over_draws(is_near_NR.sum(axis=0), sizes_C @ is_query_CR)


def _over_draws(hits_R: NDArray[np.int64], queries_R: NDArray[np.int64]) -> MatchedRecall | None:
    has_queries_R = queries_R > 0
    if not has_queries_R.any():
        return None
    recalls_R = hits_R[has_queries_R] / queries_R[has_queries_R]
    low, high = np.percentile(recalls_R, _ENDS)
    return MatchedRecall(
        mean=float(hits_R.sum() / queries_R.sum()), low=float(low), high=float(high)
    )


def _rivals(
    embeddings_ND: NDArray[np.float64], sizes_C: NDArray[np.int64], by_direction: bool
) -> NDArray[np.float32]:
    """Number of images of each class at least as near to a query as the nearest of its own class.

    0 for its own class; all images of other classes for a query without another of its class.
    """
    squares_N = (embeddings_ND**2).sum(axis=1)
    if by_direction:
        embeddings_ND = embeddings_ND / np.maximum(np.sqrt(squares_N), 1e-12)[:, None]
    num_images, num_classes = len(embeddings_ND), len(sizes_C)
    starts_C = np.cumsum(sizes_C) - sizes_C
    class_N = np.repeat(np.arange(num_classes), sizes_C)
    rivals_NC = np.empty((num_images, num_classes), dtype=np.float32)
    count = np.uint8 if sizes_C.max() < np.iinfo(np.uint8).max else np.int32
    member_S = np.arange(sizes_C.max())
    block = max(1, _BLOCK // num_images)
    for first in range(0, num_images, block):
        rows_B = np.arange(first, min(first + block, num_images))
        near_BN = embeddings_ND[rows_B] @ embeddings_ND.T
        if not by_direction:
            near_BN -= squares_N / 2  # falls with the distance to a query
        position_B = np.arange(len(rows_B))
        near_BN[position_B, rows_B] = -np.inf
        # Smaller classes are padded with their last member.
        class_B = class_N[rows_B]
        own_BS = starts_C[class_B][:, None] + np.minimum(member_S, sizes_C[class_B][:, None] - 1)
        best_B = near_BN[position_B[:, None], own_BS].max(axis=1)
        is_ahead_BN = near_BN >= best_B[:, None] - _TIE
        rivals_NC[rows_B] = np.add.reduceat(
            is_ahead_BN.view(np.uint8), starts_C, axis=1, dtype=count
        )
        rivals_NC[rows_B, class_B] = 0
    return rivals_NC
