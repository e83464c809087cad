"""Sign-flip permutation test of mean paired differences. B = blocks, P = pairs, N = flips."""

import numpy as np
from numpy.typing import NDArray

_MOST_EXACT = 24  # blocks: the halves of 2^24 sign assignments have 4,096 sums each
_FLIPS = 99_999
_CHUNK = 2**22  # numbers held at once
_RELATIVE_TIE = 1e-9  # sums that close, relative to the magnitudes summed, are equal


def sign_flip_p_values(
    differences_BP: NDArray[np.float64], *, seed: int = 0
) -> NDArray[np.float64]:
    """Two-sided p of each column: are its differences symmetric around zero?

    The share of sign assignments whose mean difference is at least as far from 0 as the given one,
    which is counted too. All 2^B are counted up to 24 blocks, beyond that 99,999 random ones. A
    difference of 0 stays 0; a column of zeros gives p = 1. Unlike a signed-rank test it weighs
    blocks by points, so a single large difference can decide. Assumes independent blocks. Source:
    Fisher 1935, section 21; exact counting by Pagano and Tritchler 1983 (here by halves).

    Args:
        differences_BP: finite differences a - b, in units of the score.
        seed: seed of the random assignments.
    """
    observed_P = np.abs(differences_BP.sum(axis=0))
    reached_P = observed_P - _RELATIVE_TIE * np.abs(differences_BP).sum(axis=0)
    if len(differences_BP) > _MOST_EXACT:
        return _random(differences_BP, reached_P, seed)
    return np.array(
        [
            _exact(column_B, reached) if reached > 0 else 1.0
            for column_B, reached in zip(differences_BP.T, reached_P, strict=True)
        ]
    )


def smallest_sign_flip_p(num_blocks: int) -> float:
    """The least two-sided p that so many blocks can give: all differences of one sign."""
    counted = min(1.0, 2.0 ** (1 - num_blocks))
    return counted if num_blocks <= _MOST_EXACT else max(counted, 1 / (1 + _FLIPS))


def _exact(differences_B: NDArray[np.float64], reached: float) -> float:
    """Sums of both halves of the blocks; each sum of the first looks up its partners."""
    half = len(differences_B) // 2
    first, second = _all_sums(differences_B[:half]), np.sort(_all_sums(differences_B[half:]))
    partners = len(second) - np.searchsorted(second, reached - first, side="left")
    assignments = float(2 ** len(differences_B))
    return min(1.0, 2 * int(partners.sum()) / assignments)


def _all_sums(differences_B: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = np.zeros(1)
    for difference in differences_B:
        sums = np.concatenate([sums + difference, sums - difference])
    return sums


def _random(
    differences_BP: NDArray[np.float64], reached_P: NDArray[np.float64], seed: int
) -> NDArray[np.float64]:
    generator = np.random.default_rng(seed)
    num_blocks, num_pairs = differences_BP.shape
    chunk = max(1, _CHUNK // max(num_blocks, num_pairs))
    extreme_P = np.zeros(num_pairs)
    for start in range(0, _FLIPS, chunk):
        size = (min(chunk, _FLIPS - start), num_blocks)
        signs_NB = 2.0 * generator.integers(2, size=size) - 1
        extreme_P += (np.abs(signs_NB @ differences_BP) >= reached_P).sum(axis=0)
    return (1 + extreme_P) / (1 + _FLIPS)
