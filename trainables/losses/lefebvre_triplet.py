"""Triplet loss of Lefebvre and Garcia 2013: target cosines 1 and 0; `triplet` has a margin.

S_BB = cosines, B = batch.
"""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._pairs import cosines


class LefebvreTriplet(Loss):
    """Positives in the direction of the anchor, negatives at a right angle to it.

    mean over triplets of (1 - S_ap)^2 + S_an^2.

    Source: Lefebvre and Garcia 2013, as in Duffner et al. 2021. There is no margin, so every
    triplet counts and is active; without triplets the value is 0 with gradient 0.
    """

    kind = "triplet"
    source = "Lefebvre and Garcia 2013, as in Duffner et al. 2021, Similarity Metric Learning"
    needs = frozenset({"balanced", "normalised"})

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        S_BB = cosines(batch)
        positive_BB, negative_BB = pair_masks(batch)
        num_positives_B1 = positive_BB.sum(1, keepdim=True)
        num_negatives_B1 = negative_BB.sum(1, keepdim=True)
        num_triplets = (num_positives_B1 * num_negatives_B1).sum()

        # A pair is in as many triplets as its anchor has partners on the other side.
        share = 1.0 / num_triplets.clamp(min=1).to(S_BB.dtype)
        pull_BB = (positive_BB * num_negatives_B1 * share) * (1.0 - S_BB).square()
        push_BB = (negative_BB * num_positives_B1 * share) * S_BB.square()
        return LossOutput((pull_BB + push_BB).sum(), (num_triplets > 0).to(S_BB.dtype))
