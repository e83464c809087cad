"""CSML (Nguyen and Bai 2010): the difference of mean cosines itself, without target or margin.

S_BR = cosines, B = batch, R = references.
"""

import torch

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._every_pair import mean_of_both_sides
from podium.trainables.losses._pairs import cosines
from podium.trainables.settings.legal_ranges import Interval, Parameter


class CSML(Loss):
    """The cosine itself, without a target or margin.

    negative_weight * mean over negatives of S - mean over positives of S.

    Source: Nguyen and Bai 2010, without their pull of a linear map towards its start; -tS with
    t = 1 or -1 in Duffner et al. 2021. Their weight of a negative is the number of positives over
    that of negatives, which is a weight of 1 on the means taken here.

    No pair is ever far enough: every pair is active, and a side without pairs is 0 with
    gradient 0.

    Args:
        negative_weight: weight of the negatives' mean.
    """

    kind = "pair"
    source = "Nguyen and Bai 2010, Cosine Similarity Metric Learning for Face Verification"
    needs = frozenset({"balanced", "normalised"})
    declared = {"negative_weight": Parameter(1.0, Interval(1e-3, 1e3), source="paper")}
    takes_references = True

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        S_BR = cosines(batch)
        pairs = pair_masks(batch)
        costs_BR = torch.where(pairs.positive_BR, -S_BR, hyperparameters["negative_weight"] * S_BR)
        return mean_of_both_sides(costs_BR, pairs)
