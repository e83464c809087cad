"""Pairwise comparisons of competitors: differences, intervals and adjusted p."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podium.analysis.hypothesis_tests.sign_flip_test import sign_flip_test


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two competitors. Differences are a - b, in units of the score.

    Attributes:
        a: name of the first competitor.
        b: name of the second.
        mean_difference: mean over the units of the test; over blocks without a test.
        low: lower end of its interval, simultaneous with those of the other pairs; None without a
            test, or where differences do not scatter.
        high: upper end, like ``low``.
        p: p of the test, adjusted for the number of pairs; None without a test. It is the smallest
            level whose interval excludes 0.
        wins: number of blocks in which a is ahead.
        ties: number of blocks with equal scores.
        losses: number of blocks in which b is ahead.
    """

    a: str
    b: str
    mean_difference: float
    low: float | None
    high: float | None
    p: float | None
    wins: int
    ties: int
    losses: int

    def differs(self, alpha: float) -> bool:
        """Whether the two are significantly different; not if p is unknown."""
        return self.p is not None and self.p <= alpha


def compare_pairs(
    names: Sequence[str],
    scores_BC: NDArray[np.float64],
    unit_scores_UC: NDArray[np.float64] | None,
    *,
    alpha: float,
    against: str | None = None,
) -> tuple[Pair, ...]:
    """The asked pairs of C competitors, in the order of the columns.

    Args:
        names: names of the competitors; if best first, ``a`` is the better placed of a pair.
        scores_BC: finite scores of blocks, higher is better.
        unit_scores_UC: scores of what is independent; None makes no test.
        alpha: level of the intervals.
        against: the competitor that every other one is compared with; None for all pairs.
    """
    first_P, second_P = np.triu_indices(len(names), k=1)
    if against is not None:
        own = names.index(against)
        is_asked_P = (first_P == own) | (second_P == own)
        first_P, second_P = first_P[is_asked_P], second_P[is_asked_P]
    gaps_BP = scores_BC[:, first_P] - scores_BC[:, second_P]
    means_P = gaps_BP.mean(axis=0)
    tested_3P = np.full((3, len(first_P)), np.nan)
    if unit_scores_UC is not None:
        gaps_UP = unit_scores_UC[:, first_P] - unit_scores_UC[:, second_P]
        means_P = gaps_UP.mean(axis=0)
        tested_3P = np.stack(sign_flip_test(gaps_UP, alpha=alpha))
    wins_P, losses_P = (gaps_BP > 0).sum(axis=0), (gaps_BP < 0).sum(axis=0)
    return tuple(
        Pair(
            a=names[first],
            b=names[second],
            mean_difference=float(means_P[number]),
            p=_known(tested_3P[0, number]),
            low=_known(tested_3P[1, number]),
            high=_known(tested_3P[2, number]),
            wins=int(wins_P[number]),
            ties=int(len(gaps_BP) - wins_P[number] - losses_P[number]),
            losses=int(losses_P[number]),
        )
        for number, (first, second) in enumerate(
            zip(first_P.tolist(), second_P.tolist(), strict=True)
        )
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p in the given order: step-down, monotone, at most 1 (Holm 1979).

    Raises:
        ValueError: a p is NaN; a family with an unknown member has no adjustment.
    """
    if any(p != p for p in p_values):
        raise ValueError(f"Holm needs every p of the family; got {list(p_values)}")
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for position, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, (len(p_values) - position) * p_values[index]))
        adjusted[index] = largest
    return adjusted
