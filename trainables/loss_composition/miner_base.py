"""What a miner takes and gives: masks over the pairs of a batch, runs over its triplets.

B = batch, N = ranks = B, R = references: the batch itself, unless it brings others.
"""

from abc import ABC, abstractmethod
from math import inf
from typing import NamedTuple

import torch
from torch import Tensor

from podium.trainables.loss_composition.batch import Batch


class PairMasks(NamedTuple):
    """Which ordered pairs (anchor in the rows, partner in the columns) take part.

    Attributes:
        positive_BR: bool, pairs of one class.
        negative_BR: bool, pairs of two classes.
    """

    positive_BR: Tensor
    negative_BR: Tensor


def pair_masks(batch: Batch) -> PairMasks:
    """All pairs of a batch. An image is no pair with itself, which is known by its index."""
    labels_B1 = batch.labels_B[:, None]
    if batch.references is not None:
        labels_R = batch.references.labels_R
        same_BR = labels_B1 == labels_R
        return PairMasks(same_BR, ~same_BR & (labels_R >= 0))
    same_BB = labels_B1 == batch.labels_B
    self_BB = torch.eye(len(batch.labels_B), dtype=torch.bool, device=batch.labels_B.device)
    return PairMasks(same_BB & ~self_BB, ~same_BB)


class Candidates(NamedTuple):
    """All triplets of a batch, without gradient: positives by a mask, negatives by rank.

    Attributes:
        similarities_BB: cosines.
        positive_BB: bool, pairs of one class.
        ascending_BN: cosines of each anchor's negatives, the least similar first; then inf.
        order_BN: int64, the sample at each rank; equally similar ones in the batch's order.
        num_negatives_B1: int64, how many ranks of an anchor hold a negative.
        embedding_dim: D.
        uniform_BB: independent numbers in [0, 1), one for each anchor and positive; None for
            miners that do not draw.
    """

    similarities_BB: Tensor
    positive_BB: Tensor
    ascending_BN: Tensor
    order_BN: Tensor
    num_negatives_B1: Tensor
    embedding_dim: int
    uniform_BB: Tensor | None


class Runs(NamedTuple):
    """Which triplets are kept: for each anchor and positive, a run of ranks of its negatives.

    All miners keep a run, so that no mask over triplets is needed. The run is empty where ``stop``
    is not above ``start``, as it is for all pairs that are no positives.

    Attributes:
        start_BB: int64, the first rank kept.
        stop_BB: int64, the first rank behind that is not.
    """

    start_BB: Tensor
    stop_BB: Tensor


def rank_negatives(
    similarities_BB: Tensor, pairs: PairMasks, embedding_dim: int, uniform_BB: Tensor | None
) -> Candidates:
    """Sort the negatives of every anchor; arguments as in `Candidates`."""
    similarities_BB = similarities_BB.detach()
    negatives_BB = similarities_BB.masked_fill(~pairs.negative_BR, inf)
    ascending_BN, order_BN = negatives_BB.sort(dim=1, stable=True)
    return Candidates(
        similarities_BB=similarities_BB,
        positive_BB=pairs.positive_BR,
        ascending_BN=ascending_BN,
        order_BN=order_BN,
        num_negatives_B1=pairs.negative_BR.sum(1, keepdim=True),
        embedding_dim=embedding_dim,
        uniform_BB=uniform_BB,
    )


def num_below(candidates: Candidates, thresholds: Tensor, *, or_equal: bool = False) -> Tensor:
    """How many negatives of an anchor are less similar than a threshold for each positive.

    Args:
        candidates: the batch's triplets.
        thresholds: cosines, of shape (B, B) or (B, 1).
        or_equal: count equally similar ones, too.

    Returns:
        int64 of shape (B, B); 0 for pairs that are no positives.
    """
    # Equal thresholds take equal ways through a binary search, which makes it many times faster.
    thresholds_BB = thresholds.where(candidates.positive_BB, -inf)
    return torch.searchsorted(candidates.ascending_BN, thresholds_BB, right=or_equal)


def kept_mask(candidates: Candidates, runs: Runs) -> Tensor:
    """The kept triplets as bool (anchor, positive, negative), shape (B, B, B)."""
    ranks_BN = torch.arange(candidates.order_BN.shape[1], device=candidates.order_BN.device)
    ranks_BB = torch.empty_like(candidates.order_BN).scatter(
        1, candidates.order_BN, ranks_BN.expand_as(candidates.order_BN)
    )
    from_start_BBB = ranks_BB[:, None, :] >= runs.start_BB[:, :, None]
    return from_start_BBB & (ranks_BB[:, None, :] < runs.stop_BB[:, :, None])


class TripletMiner(ABC):
    """Keeps some triplets (anchor, positive, negative) of a batch.

    Attributes:
        is_random: whether it reads the candidates' ``uniform_BB``.
    """

    is_random = False

    @staticmethod
    @abstractmethod
    def mine(candidates: Candidates, margin: float | Tensor) -> Runs:
        """The triplets worth training on.

        Args:
            candidates: the triplets to choose from.
            margin: margin of the loss, as a difference of cosines.
        """
