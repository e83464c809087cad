"""What a paired t test can find: power, and how many seeds or blocks it takes. Numpy only.

Shape: G points of a grid.
"""

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np

from podium.analysis.estimates.normal_distribution import REACH, cdf, grid

_LOG_REACH = 14.0  # of the logarithm of s / sigma, downwards, with 1 degree of freedom
_CHI_POINTS = 400
_BISECTIONS = 24
_ALPHA, _POWER = 0.05, 0.8
_MOST_PAIRS = 100_000


def detectable_difference(num_pairs: int, *, difference_std: float) -> float | None:
    """The true mean difference that a two-sided paired t test at 5 % finds in 4 of 5 cases.

    Args:
        num_pairs: number of independent paired differences: of seeds, or of blocks.
        difference_std: standard deviation of the differences, from 0.

    Returns:
        None with fewer than two pairs, which have no standard deviation.
    """
    if num_pairs < 2:
        return None
    test = _PairedTest(num_pairs)
    shift = _root(lambda value: test.power(value) - _POWER)
    return shift * difference_std / math.sqrt(num_pairs)


def pairs_needed(difference: float, *, difference_std: float) -> int | None:
    """The fewest seeds or blocks with which `detectable_difference` is at most ``difference``.

    Args:
        difference: true mean difference, above 0.
        difference_std: standard deviation of the differences, from 0.

    Returns:
        None if 100,000 are not enough.
    """
    if difference_std == 0:
        return 2
    ratio = difference / difference_std
    # With the standard deviation known it took so many; t tests take about z^2 / 2 more.
    z = NormalDist().inv_cdf(1 - _ALPHA / 2)
    known = ((z + NormalDist().inv_cdf(_POWER)) / ratio) ** 2
    if known > _MOST_PAIRS:
        return None

    def is_enough(num: int) -> bool:
        return _PairedTest(num).power(ratio * math.sqrt(num)) >= _POWER

    num = max(2, round(known + z**2 / 2))
    while num > 2 and is_enough(num - 1):
        num -= 1
    while not is_enough(num):
        num += 1
    return num


class _PairedTest:
    """A two-sided t test of n differences; its statistic is (Z + shift) / s, s^2 ~ chi^2 / df."""

    def __init__(self, num_pairs: int) -> None:
        df = num_pairs - 1
        low, high = -_LOG_REACH / math.sqrt(df), math.log1p(REACH / math.sqrt(2 * df))
        log_s_G, _ = grid(low, high, (high - low) / _CHI_POINTS)
        self._s_G = np.exp(log_s_G)
        weight_G = np.exp(df * (log_s_G - self._s_G**2 / 2 + 0.5))
        self._weight_G = weight_G / weight_G.sum()
        self._critical = 0.0
        self._critical = _root(lambda value: _ALPHA - self._rejected(value, 0.0))

    def power(self, shift: float) -> float:
        return self._rejected(self._critical, shift)

    def _rejected(self, critical: float, shift: float) -> float:
        bound_G = critical * self._s_G
        return float(self._weight_G @ (cdf(shift - bound_G) + cdf(-shift - bound_G)))


def _root(rising: Callable[[float], float]) -> float:
    """Where a rising function crosses 0, above 0."""
    low, high = 0.0, 1.0
    while rising(high) < 0:
        low, high = high, 2 * high
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(middle) > 0 else (middle, high)
    return (low + high) / 2
