"""Mean label distance@K: how far the labels of the nearest images are."""

from collections.abc import Sequence

from trainables.metrics.label_ranking import LabelRanking
from trainables.trial_reports import Score

__all__ = ["mean_label_distance_scores"]


def mean_label_distance_scores(
    ranking: LabelRanking, ks: Sequence[int], *, role: str
) -> tuple[Score, ...]:
    """Mean over queries of the mean label distance to the ``k`` nearest images; small is good.

    Source: Kim et al. 2019, Deep Metric Learning Beyond Binary Supervision, section 5.1 (mean pose
    distance), in the unit of the label distances.

    Args:
        ranking: ranking of one role, with as many neighbours as the largest of ``ks``.
        ks: each at least 1; beyond the number of other images all of them count.
        role: ``val`` or ``test``, copied to the scores.
    """
    return tuple(
        Score(
            role=role,
            metric="mean_label_distance",
            k=k,
            value=ranking.found_NK[:, :k].mean(1).mean().item(),
            queries=len(ranking),
            gallery=len(ranking),
        )
        for k in ks
    )
