"""Repeated-measures ANOVA over blocks, and paired t tests. B = blocks, C = competitors, P = pairs.

Both take differences of scores for normal and of one spread, which differences of recall between
data sets are not. They complement rank tests and never replace them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.estimates.distributions import f_tail, t_tail

_RELATIVE_ZERO = 1e-12  # a spread that small, relative to what varies, is rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedMeasures:
    """F of the competitors, blocks taken out. All NaN if all scores of a block are equal in all.

    ``epsilon`` is Greenhouse and Geisser's, 1 / (C - 1) to 1 (all differences have one variance);
    ``corrected_p_value`` has both degrees of freedom multiplied by it. A statistic is infinite
    where competitors differ by the same in every block.
    """

    statistic: float
    p_value: float
    degrees_of_freedom: tuple[int, int]
    epsilon: float
    corrected_p_value: float


def repeated_measures_anova(scores_BC: NDArray[np.float64]) -> RepeatedMeasures:
    """Test mean scores for equality, each block its own level.

    Args:
        scores_BC: finite scores of C >= 2 competitors in B >= 2 blocks.

    Sources: Girden 1992; Greenhouse and Geisser 1959.
    """
    num_blocks, num_competitors = scores_BC.shape
    df = (num_competitors - 1, (num_competitors - 1) * (num_blocks - 1))
    centred_BC = scores_BC - scores_BC.mean(axis=1, keepdims=True)
    effects_C = centred_BC.mean(axis=0)
    between = num_blocks * float((effects_C**2).sum())
    within = float(((centred_BC - effects_C) ** 2).sum())
    total = float((centred_BC**2).sum())
    # Rounding of the scores themselves: their square is what a spread of 0 may look like.
    nothing = scores_BC.size * (_RELATIVE_ZERO * float(np.abs(scores_BC).max())) ** 2
    if total <= nothing:
        statistic = epsilon = float("nan")
    elif within <= nothing:
        statistic, epsilon = float("inf"), 1.0
    else:
        statistic = (between / df[0]) / (within / df[1])
        epsilon = _epsilon(centred_BC)
    return RepeatedMeasures(
        statistic=statistic,
        p_value=f_tail(statistic, *df),
        degrees_of_freedom=df,
        epsilon=epsilon,
        corrected_p_value=f_tail(statistic, epsilon * df[0], epsilon * df[1]),
    )


def paired_t_p_values(differences_BP: NDArray[np.float64]) -> NDArray[np.float64]:
    """Two-sided p of each column's mean, by Student's t over B >= 2 independent blocks.

    A column of one value has no spread: p is 1 if it is 0, else 0.
    """
    num_blocks = len(differences_BP)
    means_P = differences_BP.mean(axis=0)
    errors_P = differences_BP.std(axis=0, ddof=1) / np.sqrt(num_blocks)
    is_constant_P = errors_P <= _RELATIVE_ZERO * np.abs(differences_BP).max(axis=0)
    return np.array(
        [
            float(mean == 0)
            if is_constant
            else min(1.0, 2 * t_tail(abs(mean / error), num_blocks - 1))
            for mean, error, is_constant in zip(means_P, errors_P, is_constant_P, strict=True)
        ]
    )


def _epsilon(centred_BC: NDArray[np.float64]) -> float:
    covariance_CC = np.cov(centred_BC, rowvar=False)
    trace = float(np.trace(covariance_CC))
    squares = float((covariance_CC**2).sum())
    epsilon: float = trace**2 / ((centred_BC.shape[1] - 1) * squares)
    return epsilon
