"""Triplet loss on cosines (Psomas 2020); `triplet_l2` is on squared distances."""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, LossOutput, Tensors
from podium.trainables.losses._triplets import MinedLoss, mean_mined_hinge
from podium.trainables.settings.legal_ranges import Interval, Parameter, entry_of


class Triplet(MinedLoss):
    """A positive has to be more similar to the anchor than a negative, by a margin.

    mean over mined triplets with an open hinge of [S_an - S_ap + margin]+.

    Source: Psomas 2020, equation 2.17, with the mining of equation 2.20. The mean leaves out
    triplets whose hinge is closed, as in pytorch-metric-learning: with time nearly all are, and
    would dilute the rest. Without an open hinge the value is 0 with gradient 0.

    Args:
        margin: difference of cosines; at 2 every mined triplet is open.
        miner: name of the miner of triplets, a module of `trainables.miners`.
    """

    kind = "triplet"
    source = "Psomas 2020, Metric Learning: A Deep Dive, equation 2.17 with the mining of 2.20"
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "margin": Parameter(0.1, Interval(-2.0, 2.0), unit="cosine", source="thesis table 4"),
        "miner": Parameter("semihard_hardest", entry_of("miners"), source="thesis equation 2.20"),
    }

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. A triplet is active where its hinge is open."""
        return mean_mined_hinge(batch, hyperparameters, hyperparameters["margin"])
