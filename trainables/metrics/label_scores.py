"""Scores of the order of the nearest images on continuous labels. N = queries, K = neighbours."""

from collections.abc import Sequence

import torch
from torch import Tensor

from podium.trainables.trial_reports import Score

Ranking = tuple[Tensor, Tensor]
"""What `trainables.metrics.label_ranking.label_ranking` returns."""


def ndcg_scores(ranking: Ranking, ks: Sequence[int], *, role: str) -> tuple[Score, ...]:
    """Mean over queries of DCG@k / ideal DCG@k; 1 where images come in the order of their labels.

    DCG@k = sum over ranks i = 1..k of 2^r_i / log2(i + 1), with the relevance r = -log2(1 + y) of
    an image at label distance y. So its gain 2^r is 1 / (1 + y): the value depends on the unit of
    the label distances, and is far above 0 for a random order where these are small.

    Source: Kim et al. 2019, Deep Metric Learning Beyond Binary Supervision, section 5.1, as in
    their released code (``eval_retrieval``). The usual gain 2^r - 1 would be negative here.

    Args:
        ranking: ranking of one role, with as many neighbours as the largest of ``ks``.
        ks: each at least 1; beyond the number of other images all of them count.
        role: ``val`` or ``test``, copied to the scores.
    """
    found_NK, ideal_NK = map(_discounted_gains, ranking)
    values = [(k, found_NK[:, :k].sum(1) / ideal_NK[:, :k].sum(1)) for k in ks]
    return _scores("ndcg", values, role)


def mean_label_distance_scores(
    ranking: Ranking, ks: Sequence[int], *, role: str
) -> tuple[Score, ...]:
    """Mean over queries of the mean label distance to the ``k`` nearest images; small is good.

    Source: Kim et al. 2019, Deep Metric Learning Beyond Binary Supervision, section 5.1 (mean pose
    distance), in the unit of the label distances.

    Args:
        ranking: ranking of one role, with as many neighbours as the largest of ``ks``.
        ks: each at least 1; beyond the number of other images all of them count.
        role: ``val`` or ``test``, copied to the scores.
    """
    values = [(k, ranking[0][:, :k].mean(1)) for k in ks]
    return _scores("mean_label_distance", values, role)


def _discounted_gains(label_distances_NK: Tensor) -> Tensor:
    ranks_K = torch.arange(1, label_distances_NK.shape[1] + 1, dtype=label_distances_NK.dtype)
    return 1.0 / (1.0 + label_distances_NK) / torch.log2(1.0 + ranks_K)


def _scores(metric: str, values: Sequence[tuple[int, Tensor]], role: str) -> tuple[Score, ...]:
    """The mean over queries for each K."""
    return tuple(
        Score(
            role=role,
            metric=metric,
            k=k,
            value=value_N.mean().item(),
            queries=len(value_N),
            gallery=len(value_N),
        )
        for k, value_N in values
    )
