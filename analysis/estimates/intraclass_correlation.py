"""How much blocks of one group resemble each other in how they order competitors.

B = blocks, C = competitors, G = groups.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def intraclass_correlation(
    scores_BC: NDArray[np.float64], members: Sequence[NDArray[np.intp]]
) -> float | None:
    """The share of a loss's deviations that the blocks of a group have in common, 0 to 1.

    Deviations are from the means of block and competitor; one-way analysis of variance over
    groups, sums over competitors: (MSB - MSW) / (MSB + (n - 1) MSW), n the size of a group (for
    unequal ones less by their scatter), and 0 where it is negative. Source: Donner 1986, equation
    2.1 for ICC(1).

    Args:
        scores_BC: finite scores.
        members: numbers of the blocks of each group; every block is in one.

    Returns:
        None with fewer than two groups or competitors, groups of one block, or no deviation.
    """
    num_blocks, num_competitors = scores_BC.shape
    num_groups = len(members)
    if num_competitors < 2 or not 2 <= num_groups < num_blocks:
        return None
    deviations_BC = scores_BC - scores_BC.mean(axis=1, keepdims=True)
    deviations_BC -= deviations_BC.mean(axis=0)
    sizes_G = np.array([len(blocks) for blocks in members])
    means_GC = np.stack([deviations_BC[blocks].mean(axis=0) for blocks in members])
    between_sum = float((sizes_G[:, None] * means_GC**2).sum())
    within_sum = float((deviations_BC**2).sum()) - between_sum
    between, within = between_sum / (num_groups - 1), within_sum / (num_blocks - num_groups)
    size = (num_blocks - (sizes_G**2).sum() / num_blocks) / (num_groups - 1)
    total = between + (size - 1) * within
    if total <= 1e-18 * max(1.0, float(np.abs(scores_BC).max()) ** 2):
        return None
    return max(0.0, float((between - within) / total))
