"""Two-sided Wilcoxon signed-rank test, exact also with ties."""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

# Differences that close, relative to the scores, tie: 0.3 - 0.2 is not 0.2 - 0.1 in floats.
_RELATIVE_TIE = 1e-12
_MOST_EXACT = 500  # the work of the exact distribution grows with the cube of the pairs


def signed_rank_p(scores_a: NDArray[np.float64], scores_b: NDArray[np.float64]) -> float:
    """The two-sided p of: are the paired differences a - b symmetric around zero?

    Zero differences are dropped before ranking, as Wilcoxon did; tied magnitudes share their
    average rank. Identical scores give p = 1. The null distribution of the rank sum is computed
    over all 2^n sign assignments of exactly these ranks, which without ties is the usual exact
    table; beyond 500 pairs it is the normal approximation. Sources: Wilcoxon 1945; Demšar 2006,
    section 3.1.3; Pratt and Gibbons 1981.

    Args:
        scores_a: finite scores of one competitor, one per block.
        scores_b: finite scores of the other competitor, in the same order.
    """
    differences = scores_a - scores_b
    largest = max(np.abs(scores_a).max(initial=0), np.abs(scores_b).max(initial=0))
    nonzero = differences[differences != 0]
    ranks = _magnitude_ranks(np.abs(nonzero), float(largest) * _RELATIVE_TIE)
    statistic = float(ranks[nonzero > 0].sum())
    if len(nonzero) > _MOST_EXACT:
        return _normal_p_value(ranks, statistic)
    # Doubled average ranks are whole numbers, so the null distribution lives on a grid.
    doubled = tuple(sorted(round(2 * rank) for rank in ranks))
    upper = max(round(2 * statistic), sum(doubled) - round(2 * statistic))
    return min(1.0, 2 * float(_null_distribution(doubled)[upper:].sum()))


def _magnitude_ranks(magnitudes: NDArray[np.float64], tolerance: float) -> NDArray[np.float64]:
    """Ascending average ranks; neighbours in order within ``tolerance`` are tied."""
    order = np.argsort(magnitudes, kind="stable")
    steps = np.diff(magnitudes[order], prepend=-np.inf)
    groups = np.cumsum(steps > tolerance) - 1
    sizes = np.bincount(groups)
    last = np.cumsum(sizes)
    ranks = np.empty(len(magnitudes))
    ranks[order] = (last - (sizes - 1) / 2)[groups]
    return ranks


@lru_cache(maxsize=64)
def _null_distribution(doubled_ranks: tuple[int, ...]) -> NDArray[np.float64]:
    """Probability of each sum when every rank counts or not with probability one half."""
    probabilities = np.zeros(sum(doubled_ranks) + 1)
    probabilities[0] = 1.0
    reached = 0
    for rank in doubled_ranks:
        reached += rank
        probabilities[: reached + 1] *= 0.5
        probabilities[rank : reached + 1] += probabilities[: reached + 1 - rank].copy()
    return probabilities


def _normal_p_value(ranks: NDArray[np.float64], statistic: float) -> float:
    from scipy.special import ndtr

    mean = float(ranks.sum()) / 2
    deviation = math.sqrt(float((ranks**2).sum())) / 2
    return min(1.0, 2 * float(ndtr(-abs(statistic - mean) / deviation)))
