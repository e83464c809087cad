"""Contrastive loss (Hadsell et al. 2006) on cosines and linear, as in Psomas 2020.

S_BR = cosines, B = batch, R = references.
"""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._pairs import cosines, masked_mean
from podium.trainables.settings.legal_ranges import Interval, Parameter


class Contrastive(Loss):
    """mean over negatives with S > margin of (S - margin), minus mean over positives of S.

    Source: Hadsell et al. 2006 in the cosine form of Psomas 2020, equation 2.15, whose sums are
    means here so that the value does not grow with the batch. Negatives that already lie below
    the margin are not counted: as training proceeds nearly all do, and would dilute the rest.

    Without positives, or without negatives above the margin, that side is 0 with gradient 0.

    Args:
        margin: cosine above which a negative is pushed away.
    """

    kind = "pair"
    source = "Psomas 2020, Metric Learning: A Deep Dive, equation 2.15 (Hadsell et al. 2006)"
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "margin": Parameter(0.5, Interval(-1.0, 1.0), unit="cosine", source="thesis table 4")
    }
    takes_references = True

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. A positive is always active, a negative above the margin."""
        S_BR = cosines(batch)
        positive_BR, negative_BR = pair_masks(batch)
        above_BR = S_BR - hyperparameters["margin"]
        active_BR = negative_BR & (above_BR > 0.0)
        value = masked_mean(above_BR, active_BR) - masked_mean(S_BR, positive_BR)
        num_pairs = positive_BR.sum() + negative_BR.sum()
        num_active = positive_BR.sum() + active_BR.sum()
        return LossOutput(value, num_active / num_pairs.clamp(min=1))
