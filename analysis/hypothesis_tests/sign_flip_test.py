"""Joint sign flips of paired differences: adjusted p, and simultaneous intervals of that p.

U = units, P = pairs, N = sign assignments ("flips").
"""

import numpy as np
from numpy.typing import NDArray

from podium.analysis.estimates.confidence_intervals import says_how_sure

_Floats = NDArray[np.float64]

_MOST_EXACT = 17  # units: of 2^17 assignments half mirror the others
_FLIPS = 100_000
_FEWEST_FLIPS = 1_000
_MOST_NUMBERS = 2**23  # flips times pairs
_CHUNK = 2**22  # numbers held at once
_TIE = 1e-10  # correlations of flips and differences that close are equal
_ROUNDING = 1e-9  # of a mean of differences, relative to the largest of them


def fewest_units(alpha: float) -> int:
    """Fewest units with which a p of at most ``alpha`` exists."""
    return next(n for n in range(1, 64) if 2.0 ** (1 - n) <= alpha * (1 + 1e-12))


def sign_flip_test(
    differences_UP: _Floats, *, alpha: float = 0.05
) -> tuple[_Floats, _Floats, _Floats]:
    """Adjusted p of each pair, and ends of the simultaneous intervals of all, that agree.

    Units are independent, and their differences symmetric around the true ones; differences of one
    unit may be correlated in any way. So all differences of a unit change sign together. With t =
    |mean| / (standard deviation), d a hypothetical true difference of pair j, and s a flip,

        p_j(d) = share of s with max(t of s (D_j - d), M_j(s)) >= t of (D_j - d),

    where M_j(s) is the largest t of the other pairs, with their differences as they are and around
    their means, whichever is larger. The adjusted p is p_j(0); the interval holds each d with
    p_j(d) above alpha. So p is the smallest level whose interval excludes 0. The chance that any
    pair without a true difference has p <= alpha is at most alpha, whatever the other pairs do
    (with differences as they are: Westfall and Young 1993, single-step maxT). Around their means
    they keep intervals from being narrower where other pairs differ much. Simultaneous coverage is
    then near 1 - alpha, and exact for a single pair. All flips are counted up to 17 units, beyond
    that 100,000 random ones (fewer for more than 83 pairs), the given signs among them.

    p_j(d) needs no search: s (D_j - d) reaches the given t just where d is between the mean of the
    units that keep their sign and of those that lose it. M_j(s) does where |mean - d| is at most
    M_j(s) standard deviations. So each flip has an interval of d around the mean, and p_j(d) is
    the share of flips whose interval holds d.

    Args:
        differences_UP: finite differences a - b of units, a column for each pair.
        alpha: level of the intervals.

    Returns:
        p, lower and upper ends, P each. All are NaN where differences do not scatter, ends also
        where no interval of that level exists.
    """
    num_units, num_pairs = differences_UP.shape
    most = min(_FLIPS, max(_FEWEST_FLIPS, _MOST_NUMBERS // num_pairs))
    flips_UN = sign_flips(num_units, most)
    chunk = max(1, _CHUNK // flips_UN.shape[1])
    parts = [differences_UP[:, start : start + chunk] for start in range(0, num_pairs, chunk)]
    two_2N = np.zeros((2, flips_UN.shape[1]))  # of each flip the largest correlations with a pair
    for part_UQ in parts:
        two_2N = np.sort(np.concatenate([two_2N, correlations(flips_UN, part_UQ)]), axis=0)[-2:]
    second_N, largest_N = two_2N
    found = [_p_and_ends(flips_UN, part_UQ, largest_N, second_N, alpha) for part_UQ in parts]
    p_P, low_P, high_P = np.concatenate(found, axis=1)
    return p_P, low_P, high_P


def sign_flips(num_units: int, most: int) -> _Floats:
    """All sign assignments but mirror images, or ``most`` random ones, the given signs first."""
    if num_units <= _MOST_EXACT and 2 ** (num_units - 1) <= most:
        codes_N = np.arange(2 ** (num_units - 1))
        return np.where((codes_N >> np.arange(num_units)[:, None]) & 1, -1.0, 1.0)
    generator = np.random.default_rng(0)
    flips_UN = np.where(generator.integers(2, size=(num_units, most)), -1.0, 1.0)
    flips_UN[:, 0] = 1
    return flips_UN


def correlations(flips_UN: _Floats, differences_UQ: _Floats) -> _Floats:
    """How nearly each flip makes all differences of a pair one sign, from 0 to 1, Q x N.

    It is r = |t| / sqrt(1 + t^2), of differences as they are or around their means, whichever is
    larger.
    """
    means_Q1 = differences_UQ.mean(axis=0)[:, None]
    sums_QN = differences_UQ.T @ flips_UN
    around_QN = sums_QN - means_Q1 * flips_UN.sum(axis=0)
    norms_Q, spreads_Q = np.sqrt((differences_UQ**2).sum(axis=0)), _spreads(differences_UQ)
    largest_QN = np.zeros(sums_QN.shape)
    for values_QN, length_Q in ((sums_QN, norms_Q), (around_QN, spreads_Q)):
        length_Q1 = np.where(length_Q > 0, length_Q, np.inf)[:, None]
        largest_QN = np.maximum(largest_QN, np.abs(values_QN) / length_Q1)
    largest_QN /= np.sqrt(len(differences_UQ))
    return largest_QN


def _spreads(differences_UQ: _Floats) -> _Floats:
    """Root of the sum of squares around the means; 0 where differences do not scatter."""
    spreads_Q = np.sqrt(((differences_UQ - differences_UQ.mean(axis=0)) ** 2).sum(axis=0))
    scatters_Q = says_how_sure(len(differences_UQ), spreads_Q, np.abs(differences_UQ).max(axis=0))
    return np.where(scatters_Q, spreads_Q, 0.0)


def _p_and_ends(
    flips_UN: _Floats,
    differences_UQ: _Floats,
    largest_N: _Floats,
    second_N: _Floats,
    alpha: float,
) -> _Floats:
    """p, lower and upper end of each pair, 3 x Q, from the interval of d that each flip has."""
    num_units, num_flips = flips_UN.shape
    own_QN = correlations(flips_UN, differences_UQ)
    r_QN = np.minimum(np.where(own_QN == largest_N, second_N, largest_N) + _TIE, 1.0)
    means_Q1, spreads_Q1 = differences_UQ.mean(axis=0)[:, None], _spreads(differences_UQ)[:, None]
    sums_QN, kept_N = differences_UQ.T @ flips_UN, flips_UN.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        kept_QN = (num_units * means_Q1 + sums_QN) / (num_units + kept_N)
        lost_QN = (num_units * means_Q1 - sums_QN) / (num_units - kept_N)
        reach_QN = r_QN / np.sqrt(1 - r_QN**2) * spreads_Q1 / np.sqrt(num_units)
    # Without a sign that changes, or beside a pair that flips to one sign, any d is reached.
    reach_QN[(r_QN == 1) | (np.abs(kept_N) == num_units)] = np.inf
    rounding_Q1 = _ROUNDING * np.abs(differences_UQ).max(axis=0)[:, None]
    low_QN = np.fmin(np.fmin(kept_QN, lost_QN) - rounding_Q1, means_Q1 - reach_QN)
    high_QN = np.fmax(np.fmax(kept_QN, lost_QN) + rounding_Q1, means_Q1 + reach_QN)
    p_Q = np.where(means_Q1[:, 0] > 0, (low_QN <= 0).mean(axis=1), (high_QN >= 0).mean(axis=1))
    outside = int(alpha * num_flips + 1e-9)
    low_Q = np.partition(low_QN, outside, axis=1)[:, outside]
    high_Q = -np.partition(-high_QN, outside, axis=1)[:, outside]
    has_ends_Q = np.isfinite(low_Q) & np.isfinite(high_Q) & (spreads_Q1[:, 0] > 0)
    return np.stack(
        [
            np.where(spreads_Q1[:, 0] > 0, p_Q, np.nan),
            np.where(has_ends_Q, low_Q, np.nan),
            np.where(has_ends_Q, high_Q, np.nan),
        ]
    )
