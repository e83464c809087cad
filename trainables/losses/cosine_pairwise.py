"""Cosine pair-wise loss (Duffner et al. 2021): squared error to a target cosine, no margin.

S_BR = cosines, B = batch, R = references.
"""

import torch

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._every_pair import mean_of_both_sides
from podium.trainables.losses._pairs import cosines
from podium.trainables.settings.legal_ranges import Interval, Parameter


class CosinePairwise(Loss):
    """Squared error of the cosine to its target: 1 for a positive, another for a negative.

    mean over positives of (1 - S)^2 + mean over negatives of (target_negative - S)^2.

    Source: Duffner et al. 2021, with targets 1 and -1, or 1 and 0. A batch holds far more
    negatives than positives, so the two sides are averaged apart. More than two classes cannot all
    be at cosine -1 to each other, but can be at 0.

    A side without pairs is 0 with gradient 0; every pair is active.

    Args:
        target_negative: cosine a negative is pulled to.
    """

    kind = "pair"
    source = "Duffner et al. 2021, Similarity Metric Learning, cosine pair-wise loss"
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "target_negative": Parameter(
            -1.0, Interval(-1.0, 0.0), unit="cosine", source="Duffner et al. 2021"
        )
    }
    takes_references = True

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        S_BR = cosines(batch)
        pairs = pair_masks(batch)
        above_BR = S_BR - hyperparameters["target_negative"]
        errors_BR = torch.where(pairs.positive_BR, S_BR - 1.0, above_BR)
        return mean_of_both_sides(errors_BR.square(), pairs)
