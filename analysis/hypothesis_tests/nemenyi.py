"""Nemenyi's test: average ranks differ significantly from one critical difference on."""

import math
from collections.abc import Sequence

from podium.analysis.estimates.distributions import (
    studentized_range_quantile,
    studentized_range_tail,
)


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


def _standard_error(num_competitors: int, num_blocks: int) -> float:
    return math.sqrt(num_competitors * (num_competitors + 1) / (6 * num_blocks))


def nemenyi_groups(average_ranks: Sequence[float], reach: float) -> list[range]:
    """The largest runs of two or more ranks less than the critical difference apart.

    Args:
        average_ranks: average ranks, ascending.
        reach: the critical difference.
    """
    found: list[range] = []
    for start, rank in enumerate(average_ranks):
        end = start + sum(other - rank < reach for other in average_ranks[start:])
        if end - start > 1 and (not found or end > found[-1].stop):
            found.append(range(start, end))
    return found
