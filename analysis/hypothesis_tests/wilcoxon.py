"""Two-sided Wilcoxon signed-rank test, exact also with ties."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from podium.analysis.estimates.distributions import normal_tail

# Differences that close, relative to the scores, tie: 0.3 - 0.2 is not 0.2 - 0.1 in floats.
_RELATIVE_TIE = 1e-12
_MOST_EXACT = 500  # the work of the exact distribution grows with the cube of the pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedRank:
    """Outcome of a signed-rank test of paired scores.

    ``statistic`` is the sum of the ranks of positive differences; ``num_nonzero`` how many pairs
    were ranked. ``method`` says where the p comes from: the ``exact`` table, or an exact count
    over all sign flips (``sign_flip``) because zeros or ties rule the table out, or the ``normal``
    approximation beyond 500 pairs.
    """

    statistic: float
    p_value: float
    num_nonzero: int
    method: Literal["exact", "sign_flip", "normal"]


def signed_rank_test(scores_a: NDArray[np.float64], scores_b: NDArray[np.float64]) -> SignedRank:
    """Are the paired differences a - b symmetric around zero?

    Zero differences are dropped before ranking, as Wilcoxon did; tied magnitudes share their
    average rank. Identical scores give p = 1. The null distribution of the statistic is then
    computed over all 2^n sign assignments of exactly these ranks, which without ties is the usual
    exact table. Sources: Wilcoxon 1945; Demšar 2006, section 3.1.3; Pratt and Gibbons 1981.

    Args:
        scores_a: finite scores of one competitor, one per block.
        scores_b: finite scores of the other competitor, in the same order.
    """
    differences = scores_a - scores_b
    largest = max(np.abs(scores_a).max(initial=0), np.abs(scores_b).max(initial=0))
    nonzero = differences[differences != 0]
    num_nonzero = len(nonzero)
    ranks = _magnitude_ranks(np.abs(nonzero), float(largest) * _RELATIVE_TIE)
    statistic = float(ranks[nonzero > 0].sum())
    if num_nonzero > _MOST_EXACT:
        return SignedRank(
            statistic=statistic,
            p_value=_normal_p_value(ranks, statistic),
            num_nonzero=num_nonzero,
            method="normal",
        )
    is_plain = num_nonzero == len(differences) and bool(
        (ranks == np.floor(ranks)).all() and len(np.unique(ranks)) == num_nonzero
    )
    return SignedRank(
        statistic=statistic,
        p_value=_exact_p_value(ranks, statistic),
        num_nonzero=num_nonzero,
        method="exact" if is_plain else "sign_flip",
    )


def signed_rank_tests(scores_BC: NDArray[np.float64]) -> list[SignedRank]:
    """`signed_rank_test` of all C (C - 1) / 2 pairs of columns: (0, 1), (0, 2), ..., (1, 2), ...

    The same values to the last bit. Pairs without ties or zeros are ranked together, one column
    against all later ones, and share their null distributions' tails; the others go one by one.

    Args:
        scores_BC: finite scores of B blocks and C competitors.
    """
    num_blocks, num_competitors = scores_BC.shape
    largest_C = np.abs(scores_BC).max(axis=0, initial=0)
    tests: list[SignedRank] = []
    for a in range(num_competitors):
        differences_BP = scores_BC[:, [a]] - scores_BC[:, a + 1 :]
        tolerance_P = np.maximum(largest_C[a], largest_C[a + 1 :]) * _RELATIVE_TIE
        statistic_P, is_plain_P = _plain_statistics(differences_BP, tolerance_P)
        for offset, (statistic, is_plain) in enumerate(
            zip(statistic_P.tolist(), is_plain_P.tolist(), strict=True)
        ):
            if is_plain and num_blocks <= _MOST_EXACT:
                tests.append(_plain_test(num_blocks, statistic))
            else:
                tests.append(signed_rank_test(scores_BC[:, a], scores_BC[:, a + 1 + offset]))
    return tests


def _plain_statistics(
    differences_BP: NDArray[np.float64], tolerance_P: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Sums of the ranks of positive differences, and which columns have neither ties nor zeros.

    The sums of the other columns mean nothing.
    """
    magnitudes_BP = np.abs(differences_BP)
    order_BP = np.argsort(magnitudes_BP, axis=0, kind="stable")
    steps_BP = np.diff(np.take_along_axis(magnitudes_BP, order_BP, axis=0), axis=0)
    is_plain_P = (steps_BP > tolerance_P).all(axis=0) & (differences_BP != 0).all(axis=0)
    is_positive_BP = np.take_along_axis(differences_BP > 0, order_BP, axis=0)
    ranks_B = np.arange(1.0, len(differences_BP) + 1)
    return ranks_B @ is_positive_BP, is_plain_P


@lru_cache(maxsize=4096)
def _plain_test(num_blocks: int, statistic: float) -> SignedRank:
    """The test of so many differences without ties or zeros; of one n few sums are possible."""
    p_value = _exact_p_value(np.arange(1.0, num_blocks + 1), statistic)
    return SignedRank(statistic=statistic, p_value=p_value, num_nonzero=num_blocks, method="exact")


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


def _exact_p_value(ranks: NDArray[np.float64], statistic: float) -> float:
    # Doubled average ranks are whole numbers, so the null distribution lives on a grid.
    doubled = tuple(sorted(round(2 * rank) for rank in ranks))
    upper = max(round(2 * statistic), sum(doubled) - round(2 * statistic))
    return min(1.0, 2 * float(_null_distribution(doubled)[upper:].sum()))


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
    mean = float(ranks.sum()) / 2
    deviation = math.sqrt(float((ranks**2).sum())) / 2
    return min(1.0, 2 * normal_tail(abs(statistic - mean) / deviation))
