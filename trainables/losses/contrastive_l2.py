"""Contrastive loss of Hadsell et al. 2006: squared hinges on distances; see `contrastive`.

D_BR = distances, B = batch, R = references.
"""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._pairs import cosines, distances, masked_mean
from podium.trainables.settings.legal_ranges import Interval, Parameter


class ContrastiveL2(Loss):
    """Squared hinges on the Euclidean distance of unit vectors.

    mean over positives with D > positive_margin of (D - positive_margin)^2
    + mean over negatives with D < negative_margin of (negative_margin - D)^2

    Source: Hadsell et al. 2006, equation 4, where both squares are halved and positives have no
    margin (positive_margin = 0). As in `Contrastive` a mean counts only the pairs that its hinge
    leaves open. A side without such pairs is 0 with gradient 0. A distance below 1e-6 counts as
    that, with gradient 0.

    Args:
        positive_margin: distance below which positives are left alone.
        negative_margin: distance above which negatives are left alone; unit vectors are at
            most 2 apart.
    """

    kind = "pair"
    source = "Hadsell et al. 2006, Dimensionality Reduction by Learning an Invariant Mapping"
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "positive_margin": Parameter(
            0.0, Interval(-2.0, 2.0), unit="distance", source="paper, whose formula has none"
        ),
        "negative_margin": Parameter(
            1.0, Interval(-2.0, 2.0), unit="distance", source="Roth et al. 2020"
        ),
    }
    takes_references = True

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. A pair is active where its hinge is open."""
        D_BR = distances(2.0 - 2.0 * cosines(batch))
        positive_BR, negative_BR = pair_masks(batch)
        beyond_BR = D_BR - hyperparameters["positive_margin"]
        within_BR = hyperparameters["negative_margin"] - D_BR
        far_BR = positive_BR & (beyond_BR > 0.0)
        near_BR = negative_BR & (within_BR > 0.0)
        value = masked_mean(beyond_BR.square(), far_BR) + masked_mean(within_BR.square(), near_BR)
        num_pairs = positive_BR.sum() + negative_BR.sum()
        return LossOutput(value, (far_BR.sum() + near_BR.sum()) / num_pairs.clamp(min=1))
