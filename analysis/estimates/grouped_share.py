"""The interval of a mean of shares whose blocks resemble each other within groups.

B = blocks, G = groups, C = columns.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from podium.analysis.estimates.confidence_intervals import t_reach

FEWEST_GROUPS = 5
"""Fewer groups scatter too little by chance, too often, for an interval."""

_NO_VARIANCE = 1e-18


def grouped_share_intervals(
    shares_BC: NDArray[np.float64], members: Sequence[NDArray[np.intp]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Lower and upper ends of the 95 % intervals of the means over blocks, one of each column.

    The variance of a mean is the delete-one-group jackknife's. The interval is Wilson's for the
    effective number of repetitions p (1 - p) / variance, or G where all groups agree, so it has
    a width at 0 and 1 too; Student's t with G - 1 degrees of freedom stands in place of the normal
    quantile, since the variance is estimated from G values. It always holds its mean. Sources:
    Korn and Graubard 1998 and Dean and Pagano 2015, for proportions from clusters.

    Args:
        shares_BC: values from 0 to 1.
        members: numbers of the blocks of each group; every block is in one.

    Returns:
        None with fewer than 5 groups.
    """
    num_groups = len(members)
    if num_groups < FEWEST_GROUPS:
        return None
    mean_C = shares_BC.mean(axis=0)
    total_C = shares_BC.sum(axis=0)
    without_GC = np.stack(
        [
            (total_C - shares_BC[blocks].sum(axis=0)) / (len(shares_BC) - len(blocks))
            for blocks in members
        ]
    )
    variance_C = (num_groups - 1) * without_GC.var(axis=0)
    varies_C = variance_C > _NO_VARIANCE
    size_C = np.full(mean_C.shape, float(num_groups))
    np.divide(mean_C * (1 - mean_C), variance_C, out=size_C, where=varies_C)
    size_C = np.maximum(size_C, 1.0)
    squared = t_reach(num_groups - 1) ** 2
    middle_C = (mean_C + squared / (2 * size_C)) / (1 + squared / size_C)
    spread_C = mean_C * (1 - mean_C) * squared / size_C + (squared / (2 * size_C)) ** 2
    half_C = np.sqrt(np.maximum(spread_C, 0.0)) / (1 + squared / size_C)
    low_C = np.clip(middle_C - half_C, 0.0, mean_C)
    high_C = np.clip(middle_C + half_C, mean_C, 1.0)
    return low_C, high_C
