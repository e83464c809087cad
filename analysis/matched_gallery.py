"""Recall@K of test images among as few classes as validation had.

N = images, D = embedding dimension, S = images of a draw.

Recall@K falls as classes are added whatever the embedding does, so validation less test is mostly
the size of the gallery. On random subsets of the test classes, as many as validation has, the two
are on one scale: the idea of Grouped Recall@K (Zhdanov and Karpukhin 2023), with independent
draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["MatchedRecall", "matched_recall"]

_TIE = 1e-12  # cosines that agree to this are ties
_ENDS = (2.5, 97.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedRecall:
    """Recall@K over draws of classes, as shares.

    Attributes:
        mean: hits of all draws over their queries.
        low: so that 2.5 % of draws are below; where recalls of that many classes lie by the luck
            of the classes alone, not an error of the mean.
        high: so that 2.5 % of draws are above.
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
    num_draws: int = 40,
    seed: int = 0,
) -> MatchedRecall | None:
    """Recall@K within random classes, each image a query against all others of the draw.

    Ties count against the query; one without another image of its class is left out.

    Args:
        embeddings_ND: of the test images, of any length.
        labels_N: their classes.
        k: from 1.
        num_classes: of a draw, from 1.
        by_direction: whether nearness is by cosine; by distance otherwise.
        num_draws: how many, from 1; one if all classes are taken.
        seed: equal seeds give equal draws.

    Returns:
        None with fewer classes than asked for, or without any query.
    """
    classes = np.unique(labels_N)
    if num_classes > len(classes):
        return None
    generator = np.random.default_rng(seed)
    rows = {label: np.flatnonzero(labels_N == label) for label in classes}
    hits, queries = [], []
    for _ in range(1 if num_classes == len(classes) else num_draws):
        drawn = np.sort(generator.permutation(len(classes))[:num_classes])
        chosen_S = np.concatenate([rows[classes[place]] for place in drawn])
        ranks_S = _first_ranks(
            embeddings_ND[chosen_S].astype(np.float64), labels_N[chosen_S], by_direction
        )
        hits.append(int((ranks_S <= k).sum()))
        queries.append(len(ranks_S))
    return _over_draws(hits, queries)


def _over_draws(hits: Sequence[int], queries: Sequence[int]) -> MatchedRecall | None:
    recalls = [hit / total for hit, total in zip(hits, queries, strict=True) if total]
    if not recalls:
        return None
    low, high = np.percentile(recalls, _ENDS)
    return MatchedRecall(mean=sum(hits) / sum(queries), low=float(low), high=float(high))


def _first_ranks(
    embeddings_SD: NDArray[np.float64], labels_S: NDArray[np.int64], by_direction: bool
) -> NDArray[np.int64]:
    """Rank of the nearest image of the class, of the queries that have one."""
    squares_S = (embeddings_SD**2).sum(axis=1)
    near_SS = embeddings_SD @ embeddings_SD.T
    if by_direction:
        lengths_S = np.maximum(np.sqrt(squares_S), 1e-12)
        near_SS /= lengths_S[:, None] * lengths_S
    else:
        near_SS = near_SS - squares_S / 2  # falls with the distance to a query
    is_same_SS = labels_S[:, None] == labels_S
    is_other_SS = ~is_same_SS
    np.fill_diagonal(is_same_SS, val=False)
    best_S = np.where(is_same_SS, near_SS, -np.inf).max(axis=1)
    ahead_S = (is_other_SS & (near_SS >= best_S[:, None] - _TIE)).sum(axis=1)
    ranks_S: NDArray[np.int64] = 1 + ahead_S[is_same_SS.any(axis=1)]
    return ranks_S
