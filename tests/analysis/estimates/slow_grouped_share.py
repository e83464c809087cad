"""An interval of a mean of shares from groups, step by step."""

import numpy as np
from scipy.stats import norm, t
from statsmodels.stats.proportion import proportion_confint


def slow_interval(shares, members):
    """Leave out each group in turn; then Wilson's interval with Student's t for the normal."""
    shares, num_groups = np.asarray(shares, dtype=float), len(members)
    mean = shares.mean()
    without = [np.delete(shares, blocks).mean() for blocks in members]
    centre = sum(without) / num_groups
    variance = (num_groups - 1) / num_groups * sum((one - centre) ** 2 for one in without)
    size = num_groups if variance < 1e-18 else max(1.0, mean * (1 - mean) / variance)
    alpha = 2 * norm.sf(t.ppf(0.975, num_groups - 1))  # statsmodels asks for the normal's tail
    low, high = proportion_confint(mean * size, size, alpha=alpha, method="wilson")
    return min(low, mean), max(high, mean)


def blocks_of(sizes):
    """Numbers of the blocks of groups of such sizes, one group after the other."""
    starts = np.cumsum([0, *sizes])
    return [np.arange(start, start + size) for start, size in zip(starts, sizes, strict=False)]
