"""Splitting units in halves, to choose on one and score on the other. U units, H halves.

A score by which something was chosen is optimistic (selection bias); on the other half it is not.

Resampling must not put copies of a unit on both sides, or the choice is scored on what it was
made by. So units are split first, and resampling gives them weights within their halves.
"""

import math
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

MEAN_DIGITS = 10
"""Decimals of a mean score: means of equal scores differ by less, in whatever order summed."""


def all_halves(num_units: int, *, most: int, seed: int) -> NDArray[np.bool_]:
    """Halves as rows (H, U), each with its complement: row h + H/2 is the other side of row h.

    All ways to halve, if they are at most ``most``; else ``most`` (rounded down to even) drawn
    at random. With an odd number of units the sides differ by one.

    Args:
        num_units: number of units U, at least 2.
        most: largest number of rows H, at least 2.
        seed: equal seeds give equal halves.
    """
    size = num_units // 2
    num_ways = math.comb(num_units, size) * (1 if num_units % 2 == 0 else 2)
    if num_ways <= most:
        # In an even number each way is found twice, as a side and as the other one: unit 0 here.
        chosen = [
            side
            for side in combinations(range(num_units), size)
            if num_units % 2 == 1 or 0 in side
        ]
    else:
        generator = np.random.default_rng(seed)
        chosen = [tuple(generator.permutation(num_units)[:size]) for _ in range(most // 2)]
    first = np.zeros((len(chosen), num_units), dtype=bool)
    for row, side in enumerate(chosen):
        first[row, list(side)] = True
    return np.concatenate([first, ~first])


def half_means(
    scores_CU: NDArray[np.float64], halves_HU: NDArray[np.bool_], weights_RU: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Weighted mean of each candidate on each half: (R, H, C); NaN where a half weighs nothing."""
    sides_RHU = weights_RU[:, None, :] * halves_HU
    totals_RH1 = sides_RHU.sum(axis=2, keepdims=True)
    sums_RHC = sides_RHU @ scores_CU.T
    with np.errstate(invalid="ignore"):
        means: NDArray[np.float64] = np.round(sums_RHC / totals_RH1, MEAN_DIGITS)
    return means


def other_half(values_RHC: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same values, each in the place of its complement."""
    return np.roll(values_RHC, values_RHC.shape[1] // 2, axis=1)


def top_shares(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 for the largest score along the last axis and 0 for the others; equals share the 1.

    All NaN where any score is NaN.
    """
    is_top = scores == scores.max(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        shares: NDArray[np.float64] = is_top / is_top.sum(axis=-1, keepdims=True)
    return shares
