"""Nemenyi's test: average ranks differ significantly from one critical difference on."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from podium.analysis.estimates.distributions import (
    studentized_range_quantile,
    studentized_range_tail,
)
from podium.analysis.estimates.ranks import average_ranks

_POOL = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolChange:
    """A pair whose verdict depends on the pool; gaps are in average ranks.

    ``is_different_in_pool`` is the verdict in the pool; among all competitors it is the opposite.
    """

    a: str
    b: str
    gap: float
    gap_in_pool: float
    is_different_in_pool: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSensitivity:
    """Nemenyi's test of the best five alone, compared with that of all competitors.

    Attributes:
        pool: names of the best five.
        critical_difference: critical difference among all competitors, in average ranks.
        critical_difference_in_pool: critical difference among the five.
        changed: pairs of the five whose verdict differs.
    """

    pool: tuple[str, ...]
    critical_difference: float
    critical_difference_in_pool: float
    changed: tuple[PoolChange, ...]


def critical_difference(num_competitors: int, num_blocks: int, alpha: float = 0.05) -> float:
    """q(alpha, k, inf) / sqrt(2) * sqrt(k (k + 1) / 6n) (Demšar 2006, section 3.2.2).

    It grows with the number of competitors: the verdict on a pair depends on the pool.
    """
    q = studentized_range_quantile(alpha, num_competitors)
    return q / math.sqrt(2) * _standard_error(num_competitors, num_blocks)


def nemenyi_p_value(rank_difference: float, num_competitors: int, num_blocks: int) -> float:
    """Two-sided p of a difference of average ranks; at most alpha exactly from the CD on."""
    z = abs(rank_difference) / _standard_error(num_competitors, num_blocks)
    return studentized_range_tail(z * math.sqrt(2), num_competitors)


def pool_sensitivity(
    names: Sequence[str], scores_BC: NDArray[np.float64], alpha: float, *, num_independent: int
) -> PoolSensitivity | None:
    """Rank the best five among themselves, and compare with their ranks among all.

    Both ranks and critical difference change with the pool, which the scores of a pair do not
    (Benavoli et al. 2016).

    Args:
        names: names of the C competitors, best first.
        scores_BC: finite scores, higher is better.
        alpha: significance level of both tests.
        num_independent: blocks counted as independent, such as their groups.

    Returns:
        None with five competitors or fewer.
    """
    num_competitors = len(names)
    if num_competitors <= _POOL:
        return None
    all_C = average_ranks(scores_BC).mean(axis=0)
    pool_C = average_ranks(scores_BC[:, :_POOL]).mean(axis=0)
    limit = critical_difference(num_competitors, num_independent, alpha)
    limit_in_pool = critical_difference(_POOL, num_independent, alpha)
    changed = []
    for a, b in combinations(range(_POOL), 2):
        gap, gap_in_pool = abs(float(all_C[a] - all_C[b])), abs(float(pool_C[a] - pool_C[b]))
        is_different_in_pool = gap_in_pool >= limit_in_pool
        if is_different_in_pool != (gap >= limit):
            changed.append(
                PoolChange(
                    a=names[a],
                    b=names[b],
                    gap=gap,
                    gap_in_pool=gap_in_pool,
                    is_different_in_pool=is_different_in_pool,
                )
            )
    return PoolSensitivity(
        pool=tuple(names[:_POOL]),
        critical_difference=limit,
        critical_difference_in_pool=limit_in_pool,
        changed=tuple(changed),
    )


def _standard_error(num_competitors: int, num_blocks: int) -> float:
    return math.sqrt(num_competitors * (num_competitors + 1) / (6 * num_blocks))
