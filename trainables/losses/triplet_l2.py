"""Triplet loss of FaceNet (Schroff et al. 2015), on squared distances; `triplet` is on cosines.

S_BB = cosines, B = batch.
"""

from collections.abc import Mapping

from torch import Tensor

from trainables.loss_composition.batch import Batch
from trainables.loss_composition.loss_base import Hyperparameters, LossOutput
from trainables.losses._pairs import cosines
from trainables.losses._triplets import (
    LEGAL_MINERS,
    MinedLoss,
    all_triplets,
    mean_open_hinge,
    mine_triplets,
)
from trainables.settings.legal_ranges import Interval

__all__ = ["TripletL2"]


class TripletL2(MinedLoss):
    """A positive has to be nearer to the anchor than a negative, by a margin.

    mean over mined triplets with an open hinge of [D2_ap - D2_an + margin]+, where D2 is the
    squared distance of the normalised embeddings.

    Source: Schroff et al. 2015, FaceNet; the mean is that of `Triplet`. As D2 = 2 - 2 S, this
    is twice `Triplet` at half the margin; it is here for the margins people publish.

    Args:
        margin: difference of squared distances, in [-4, 4]; at 4 every mined triplet is open.
        miner: name of the miner of triplets, a module of `trainables.miners`.
    """

    needs = frozenset({"balanced", "normalised"})
    legal = {"margin": Interval(-4.0, 4.0), "miner": LEGAL_MINERS}
    invariances = frozenset({"permutation", "rotation", "scale"})
    is_vmappable = True

    def __init__(self, *, margin: float = 0.2, miner: str = "semihard_hardest") -> None:
        super().__init__(margin=margin, miner=miner)

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
