"""Recall@K from the ranks of first positives.

Q = queries, C = classes among the queries.
"""

from collections.abc import Sequence

import numpy as np

from podium.trainables.metrics.first_positive_rank import FirstPositiveRanks
from podium.trainables.trial_reports import ClassHits, Score


def recall_scores(
    ranks: FirstPositiveRanks, ks: Sequence[int], *, role: str, strict: bool = False
) -> tuple[Score, ...]:
    """The part of the queries with a positive among their ``k`` nearest images, for each ``k``.

    A query without any positive is left out, as in pytorch-metric-learning. Where the images are
    searched among themselves, ``gallery`` counts it. Ties count against the query
    (`trainables.metrics.first_positive_rank`).

    Args:
        ranks: ranks of the first positives of one role.
        ks: each at least 1; beyond the size of the gallery every query is a hit.
        role: ``val`` or ``test``, copied to the scores.
        strict: whether a query without any positive is a miss, as in the code of Kim et al. 2020,
            instead of being left out.

    Raises:
        ValueError: there is no query, or a ``k`` is below 1.
    """
    num_queries = len(ranks.ranks_Q) + (ranks.num_singletons if strict else 0)
    if num_queries == 0:
        raise ValueError(
            f"Recall@K needs a query with another image of its class, but role {role!r} has none "
            f"among {ranks.num_singletons} queries"
        )
    scores = []
    for k in ks:
        _check_k(k)
        hits = int((ranks.ranks_Q <= k).sum())
        score = Score(
            role=role,
            metric="recall",
            k=k,
            value=hits / num_queries,
            hits=hits,
            queries=num_queries,
            gallery=ranks.num_gallery,
        )
        scores.append(score)
    return tuple(scores)


def recall_class_hits(ranks: FirstPositiveRanks, k: int, *, role: str) -> ClassHits:
    """Queries and hits of every class that has a query, in ascending order of class."""
    _check_k(k)
    classes_C, class_of_query_Q = np.unique(ranks.labels_Q.numpy(), return_inverse=True)
    is_hit_Q = ranks.ranks_Q.numpy() <= k
    queries_C = np.bincount(class_of_query_Q, minlength=len(classes_C))
    hits_C = np.bincount(class_of_query_Q[is_hit_Q], minlength=len(classes_C))
    return ClassHits(
        role=role,
        k=k,
        class_ids=tuple(classes_C.tolist()),
        queries=tuple(queries_C.tolist()),
        hits=tuple(hits_C.tolist()),
    )


def _check_k(k: int) -> None:
    if k < 1:
        raise ValueError(f"k of Recall@k must be at least 1, but got {k}")
