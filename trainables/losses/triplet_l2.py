"""Triplet loss of FaceNet (Schroff et al. 2015), on squared distances; `triplet` is on cosines.

S_BB = cosines, B = batch.
"""

from collections.abc import Mapping

from torch import Tensor

from trainables.loss_composition.batch import Batch
from trainables.loss_composition.loss_base import Hyperparameters, LossOutput
from trainables.losses._pairs import cosines
from trainables.losses._triplets import (
    MinedLoss,
    all_triplets,
    mean_open_hinge,
    mine_triplets,
)
from trainables.settings.legal_ranges import Interval, Parameter, entry_of

__all__ = ["TripletL2"]


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

    needs = frozenset({"balanced", "normalised"})
    declared = {
        "margin": Parameter(0.2, Interval(-4.0, 4.0), unit="squared distance", source="paper"),
        "miner": Parameter("semihard_hardest", entry_of("miners"), source="thesis equation 2.20"),
    }
    invariances = frozenset({"permutation", "rotation", "scale"})
    is_vmappable = True

    @staticmethod
    def compute(
        batch: Batch, parameters: Mapping[str, Tensor], hyperparameters: Hyperparameters
    ) -> LossOutput:
        """See `Loss.compute`. A triplet is active where its hinge is open."""
        S_BB = cosines(batch)
        margin = hyperparameters["margin"] / 2.0
        candidates = all_triplets(batch, S_BB)
        mined = mine_triplets(batch, candidates, hyperparameters, margin)
        output = mean_open_hinge(S_BB, candidates, mined, margin)
        return output._replace(value=2.0 * output.value)
