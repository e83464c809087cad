"""Nemenyi's test: average ranks further apart than one critical difference are different."""

import math

from analysis.estimates.distributions import studentized_range_quantile, studentized_range_tail

__all__ = ["critical_difference", "nemenyi_p_value"]


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
