"""Losses in which every pair counts. B = batch, R = references."""

import torch
from torch import Tensor

from podium.trainables.loss_composition.loss_base import LossOutput
from podium.trainables.loss_composition.miner_base import PairMasks


def mean_of_both_sides(costs_BR: Tensor, pairs: PairMasks) -> LossOutput:
    """Mean over positives plus mean over negatives of finite costs; every pair is active.

    A side without pairs is 0 with gradient 0.
    """
    positive_BR, negative_BR = pairs
    num_positives, num_negatives = positive_BR.sum(), negative_BR.sum()
    # One weighted sum is fewer passes over the matrix than two masked means.
    positive_share = 1.0 / num_positives.clamp(min=1).to(costs_BR.dtype)
    negative_share = 1.0 / num_negatives.clamp(min=1).to(costs_BR.dtype)
    shares_BR = torch.where(positive_BR, positive_share, negative_BR * negative_share)
    is_active = (num_positives + num_negatives > 0).to(costs_BR.dtype)
    return LossOutput((costs_BR * shares_BR).sum(), is_active)
