"""Friedman's test that all competitors are alike, with Kendall's W."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_FEW_BLOCKS = 10  # below, the chi-square approximation is poor and permutations are counted too
_PERMUTATIONS = 9_999


@dataclass(frozen=True, slots=True, kw_only=True)
class Friedman:
    """Friedman chi-square and Kendall's W.

    ``permutation_p_value`` is None with 10 blocks or more. All numbers are NaN when every block
    is one single tie.
    """

    statistic: float
    p_value: float
    degrees_of_freedom: int
    kendall_w: float
    permutation_p_value: float | None


def friedman_test(ranks_BC: NDArray[np.float64]) -> Friedman:
    """Test average ranks for equality; blocks are independent, ranks within them are not.

    Args:
        ranks_BC: average ranks within each of B >= 2 blocks of C >= 3 competitors.

    Sources: Friedman 1937; tie correction Conover 1999, section 5.8; Demšar 2006,
    section 3.2.2.
    """
    from scipy.special import chdtrc

    num_blocks, num_competitors = ranks_BC.shape
    df = num_competitors - 1
    # Turns the spread of the rank sums into chi-square; 0 if every block is one tie.
    correction = num_blocks * num_competitors * (num_competitors + 1) ** 2 / 4
    within = float((ranks_BC**2).sum()) - correction
    scale = df / within if within > 0 else 0.0
    if scale == 0:
        statistic = float("nan")
    else:
        statistic = float(scale * _spread(ranks_BC.sum(axis=0), num_blocks))
    return Friedman(
        statistic=statistic,
        p_value=float(chdtrc(df, statistic)),
        degrees_of_freedom=df,
        kendall_w=statistic / (num_blocks * df),
        permutation_p_value=_permutation_p_value(ranks_BC)
        if num_blocks < _FEW_BLOCKS and scale > 0
        else None,
    )


def _spread(totals: NDArray[np.float64], num_blocks: int) -> NDArray[np.float64]:
    """Sum of squared deviations of rank totals from their mean, over the last axis."""
    centre = num_blocks * (totals.shape[-1] + 1) / 2
    spread: NDArray[np.float64] = ((totals - centre) ** 2).sum(axis=-1)
    return spread


def _permutation_p_value(ranks_BC: NDArray[np.float64]) -> float:
    """Share of random reorderings within blocks at least as extreme, the given one included."""
    generator = np.random.default_rng(0)
    num_blocks = len(ranks_BC)
    shuffled = generator.permuted(np.tile(ranks_BC, (_PERMUTATIONS, 1)), axis=1)
    totals = shuffled.reshape(_PERMUTATIONS, num_blocks, -1).sum(axis=1)
    # The scale is the same for every permutation; half a unit of 1e-9 absorbs rounding.
    observed = _spread(ranks_BC.sum(axis=0), num_blocks)
    extreme = int((_spread(totals, num_blocks) >= observed - 1e-9).sum())
    return (1 + extreme) / (1 + _PERMUTATIONS)
