"""Statistics of scores over class-disjoint folds: mean, spread, and a paired test."""

import math
from collections.abc import Sequence

import numpy as np

from podium.analysis.estimates.confidence_intervals import Interval, says_how_sure, t_reach
from podium.analysis.estimates.distributions import t_tail

FOLD_STD_MEANING = (
    "sd: sample standard deviation over folds: how much the score moves with the training classes "
    "and the random start, on one fixed set of test classes. Folds share most of their training "
    "classes, so sd / sqrt(folds) is not the standard error of the mean; no unbiased estimate of "
    "it exists (Bengio and Grandvalet 2004)."
)


def fold_statistics(values: Sequence[float]) -> tuple[float, float | None]:
    """Mean and sample standard deviation of one score per fold; None of a single fold."""
    array = np.asarray(values, dtype=np.float64)
    return float(array.mean()), float(array.std(ddof=1)) if len(array) > 1 else None


def corrected_resampled_t(
    scores_a: Sequence[float], scores_b: Sequence[float], *, held_out_ratio: float
) -> tuple[Interval, float] | None:
    """Paired t test whose variance allows for folds sharing training data.

    t = mean(d) / sqrt((1/J + held_out_ratio) var(d)) with J - 1 degrees of freedom. Meant for
    validation scores; on one fixed test set it is a heuristic. Source: Nadeau and Bengio 2003.

    Args:
        scores_a: score of one loss on each fold (and repeat of the split).
        scores_b: score of the other loss, same folds in the same order.
        held_out_ratio: validation classes over training classes, 1 / (folds - 1) in a k-fold.

    Returns:
        The mean of a - b with its interval, whose standard error has the correction in it, and
        the two-sided p. None where `says_how_sure` is false.

    Raises:
        ValueError: folds that do not pair up.
    """
    if len(scores_a) != len(scores_b):
        raise ValueError(
            "the corrected t test needs the same folds on both sides; "
            f"got {len(scores_a)} and {len(scores_b)}"
        )
    pairs = np.array([scores_a, scores_b], dtype=np.float64)
    differences, num = pairs[0] - pairs[1], pairs.shape[1]
    if not num or not says_how_sure(num, float(differences.std()), float(np.abs(pairs).max())):
        return None
    mean = float(differences.mean())
    error = math.sqrt((1 / num + held_out_ratio) * float(differences.var(ddof=1)))
    half = t_reach(num - 1) * error
    interval = Interval(
        estimate=mean, low=mean - half, high=mean + half, standard_error=error, num=num
    )
    return interval, 2 * t_tail(abs(mean / error), num - 1)
