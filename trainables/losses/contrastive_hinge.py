"""Contrastive loss on squared distances with a plain hinge; see `contrastive`.

S_BR = cosines, D2_BR = squared distances, B = batch, R = references.
"""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._pairs import cosines, masked_mean
from podium.trainables.settings.legal_ranges import Interval, Parameter


class ContrastiveHinge(Loss):
    """mean over positives of D2 + mean over negatives with D2 < margin of (margin - D2).

    D2 is the squared distance of the normalised embeddings.

    Source: Duffner et al. 2021, equation 7, and the survey of Mohan et al. 2023. Hadsell et al.
    2006 square the hinge of the distance instead: `ContrastiveL2`. The means are those of
    `Contrastive`. As D2 = 2 - 2 S, this is twice `Contrastive` at 1 - margin / 2, plus 2; it is
    here for the margins people publish. A side without pairs is 0 with gradient 0.

    Args:
        margin: squared distance above which negatives are left alone; unit vectors are at most 4
            apart.
    """

    kind = "pair"
    source = (
        "Duffner et al. 2021, Similarity Metric Learning, equation 7; Mohan et al. 2023, Deep"
        " Metric Learning for Computer Vision: A Brief Overview"
    )
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "margin": Parameter(
            1.0,
            Interval(0.0, 4.0),
            unit="squared distance",
            source="own: contrastive's 0.5",
        )
    }
    takes_references = True

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. A positive is always active, a negative within the margin."""
        D2_BR = 2.0 - 2.0 * cosines(batch)
        positive_BR, negative_BR = pair_masks(batch)
        within_BR = hyperparameters["margin"] - D2_BR
        active_BR = negative_BR & (within_BR > 0.0)
        value = masked_mean(D2_BR, positive_BR) + masked_mean(within_BR, active_BR)
        num_pairs = positive_BR.sum() + negative_BR.sum()
        num_active = positive_BR.sum() + active_BR.sum()
        return LossOutput(value, num_active / num_pairs.clamp(min=1))
