"""Triplet loss of FaceNet (Schroff et al. 2015), on squared distances; `triplet` is on cosines."""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, LossOutput, Tensors
from podium.trainables.losses._triplets import MinedLoss, mean_mined_hinge
from podium.trainables.settings.legal_ranges import Interval, Parameter, entry_of


class TripletL2(MinedLoss):
    """A positive has to be nearer to the anchor than a negative, by a margin.

    mean over mined triplets with an open hinge of [D2_ap - D2_an + margin]+, where D2 is the
    squared distance of the normalised embeddings.

    Source: Schroff et al. 2015, FaceNet; the mean is that of `Triplet`. As D2 = 2 - 2 S, this
    is twice `Triplet` at half the margin; it is here for the margins people publish.

    Args:
        margin: difference of squared distances; at 4 every mined triplet is open.
        miner: name of the miner of triplets, a module of `trainables.miners`.
    """

    kind = "triplet"
    source = (
        "Schroff et al. 2015, FaceNet: A Unified Embedding for Face Recognition and Clustering"
    )
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "margin": Parameter(0.2, Interval(-4.0, 4.0), unit="squared distance", source="paper"),
        "miner": Parameter("semihard_hardest", entry_of("miners"), source="thesis equation 2.20"),
    }

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. A triplet is active where its hinge is open."""
        output = mean_mined_hinge(batch, hyperparameters, hyperparameters["margin"] / 2.0)
        return output._replace(value=2.0 * output.value)
