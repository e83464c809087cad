"""Each positive of an anchor against all its negatives at once. B = batch, R = references."""

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import LossOutput
from podium.trainables.loss_composition.miner_base import PairMasks
from podium.trainables.losses._pairs import log_sum_exp, masked_mean


def against_all_negatives(pulls_BR: Tensor, pushes_BR: Tensor, pairs: PairMasks) -> LossOutput:
    """Mean over pairs (i, j) of one class of log(1 + sum_{k in N(i)} exp(push_ik - pull_ij)).

    Anchors without positives or without negatives are left out; a pair is active if its anchor has
    negatives.
    """
    positive_BR, negative_BR = pairs
    pair_BR = positive_BR & negative_BR.any(1, keepdim=True)
    ahead_BR = pulls_BR - log_sum_exp(pushes_BR, negative_BR, dim=1)[:, None]
    value = -masked_mean(logsigmoid(ahead_BR), pair_BR)
    return LossOutput(value, pair_BR.sum() / positive_BR.sum().clamp(min=1))


def mean_length(batch: Batch, pairs: PairMasks) -> Tensor:
    """Mean length of the anchors that have positives and negatives; 0 without any."""
    lengths_B = torch.linalg.vector_norm(batch.embeddings_BD, dim=1)
    return masked_mean(lengths_B, pairs.positive_BR.any(1) & pairs.negative_BR.any(1))
