"""Soft histograms: a pair counts at the two nodes it lies between, and in all as one.

B = batch, R = references, N = nodes = intervals + 1.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from podium.trainables.loss_composition.miner_base import PairMasks


class NodeShares(NamedTuple):
    """How each pair is shared between the two nodes it lies between.

    Attributes:
        lower_BR: int64, the node below, from 0 to intervals - 1.
        share_BR: share of the pair that the node above gets, in [0, 1].
    """

    lower_BR: Tensor
    share_BR: Tensor


def node_shares(positions_BR: Tensor, num_intervals: int) -> NodeShares:
    """Shares of pairs where the nodes are the whole numbers from 0 to ``num_intervals``.

    What rounding put outside goes to the nearest node, where its gradient is 0.
    """
    positions_BR = positions_BR.clamp(0.0, float(num_intervals))
    lower_BR = positions_BR.detach().floor().clamp(max=num_intervals - 1.0)
    return NodeShares(lower_BR.long(), positions_BR - lower_BR)


def soft_histograms(
    shares: NodeShares, pairs: PairMasks, num_intervals: int
) -> tuple[Tensor, Tensor]:
    """Counts of each anchor's positives and of its negatives at every node: twice (B, N)."""
    num_nodes = num_intervals + 1
    # Both histograms of an anchor lie in one row, the negatives' behind the positives'.
    index_BR = shares.lower_BR + num_nodes * pairs.negative_BR
    counted_BR = (pairs.positive_BR | pairs.negative_BR).to(shares.share_BR.dtype)
    upper_BR = counted_BR * shares.share_BR
    empty = torch.zeros_like(upper_BR[:, :1]).expand(-1, 2 * num_nodes)
    both = empty.scatter_add(1, index_BR, counted_BR - upper_BR)
    both = both.scatter_add(1, index_BR + 1, upper_BR)
    return both[:, :num_nodes], both[:, num_nodes:]
