"""Tail probabilities and quantiles of the reference distributions.

scipy.special holds all of them and loads in a fifth of scipy.stats' time; it is imported at the
first call, so that importing analysis stays cheap.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_GRID_REACH = 10.0  # standard deviations; the density beyond is below 1e-22
_GRID_POINTS = 2001
_BISECTIONS = 80


def t_tail(t: float, df: float) -> float:
    """P(T >= t) of Student's t with ``df`` degrees of freedom."""
    from scipy.special import stdtr

    return float(stdtr(df, -t))


@lru_cache(maxsize=4096)  # pairs of one table have few gaps between average ranks
def studentized_range_tail(q: float, num_groups: int) -> float:
    """P(max - min >= q) of ``num_groups`` independent standard normals (infinite df).

    With z the largest of k normals, P(range < q) is k times the integral over z of
    phi(z) [Phi(z) - Phi(z - q)]^(k-1); the trapezoid rule converges exponentially on it.
    """
    from scipy.special import ndtr

    if q <= 0:
        return 1.0
    z, density, below = _normal_grid()
    # Phi^(k-1) - (Phi - Phi(z-q))^(k-1), written so that small differences keep their digits.
    with np.errstate(divide="ignore"):  # far up, both are 1: the log is -inf as it should be
        share = np.log1p(-ndtr(z - q) / below)
    outside = -(below ** (num_groups - 1)) * np.expm1((num_groups - 1) * share)
    return float(num_groups * np.sum(density * outside) * (z[1] - z[0]))


@lru_cache(maxsize=1)
def _normal_grid() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Points from -10 to 10, and the normal density and distribution there."""
    from scipy.special import ndtr

    z = np.linspace(-_GRID_REACH, _GRID_REACH, _GRID_POINTS)
    return z, np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi), ndtr(z)


def studentized_range_quantile(alpha: float, num_groups: int) -> float:
    """The q that the range of ``num_groups`` standard normals reaches with probability alpha."""
    low, high = 0.0, 4 * _GRID_REACH
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if studentized_range_tail(middle, num_groups) > alpha:
            low = middle
        else:
            high = middle
    return (low + high) / 2
