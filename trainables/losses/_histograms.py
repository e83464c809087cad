"""Soft histograms: a pair counts at the two nodes it lies between, and in all as one.

B = batch, R = references, N = nodes = intervals + 1.
"""

import torch
from torch import Tensor

from podium.trainables.loss_composition.miner_base import PairMasks


def node_shares(positions_BR: Tensor, num_intervals: int) -> tuple[Tensor, Tensor]:
    """Of each pair the node below, int64, and the share in [0, 1] that the node above gets.

    The nodes are the whole numbers from 0 to ``num_intervals``; the last has none above. What
    rounding put outside goes to the nearest node, where its gradient is 0. Both are (B, R).
    """
    positions_BR = positions_BR.clamp(0.0, float(num_intervals))
    lower_BR = positions_BR.detach().floor().clamp(max=num_intervals - 1.0)
    return lower_BR.long(), positions_BR - lower_BR


def soft_histograms(
    lower_BR: Tensor, share_BR: Tensor, pairs: PairMasks, num_intervals: int
) -> tuple[Tensor, Tensor]:
    """Counts of each anchor's positives and of its negatives at every node: twice (B, N)."""
    num_nodes = num_intervals + 1
    # Both histograms of an anchor lie in one row, the negatives' behind the positives'.
    index_BR = lower_BR + num_nodes * pairs.negative_BR
    counted_BR = (pairs.positive_BR | pairs.negative_BR).to(share_BR.dtype)
    upper_BR = counted_BR * share_BR
    empty = torch.zeros_like(upper_BR[:, :1]).expand(-1, 2 * num_nodes)
    both = empty.scatter_add(1, index_BR, counted_BR - upper_BR)
    both = both.scatter_add(1, index_BR + 1, upper_BR)
    return both[:, :num_nodes], both[:, num_nodes:]
