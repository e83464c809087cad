"""Triplet loss on cosines (Psomas 2020); `triplet_l2` is on squared distances.

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

__all__ = ["Triplet"]


class Triplet(MinedLoss):
    """A positive has to be more similar to the anchor than a negative, by a margin.

    mean over mined triplets with an open hinge of [S_an - S_ap + margin]+.

    Source: Psomas 2020, equation 2.17, with the mining of equation 2.20. The mean leaves out
    triplets whose hinge is closed, as in pytorch-metric-learning: with time nearly all are, and
    would dilute the rest. Without an open hinge the value is 0 with gradient 0.

    Args:
        margin: difference of cosines, in [-2, 2]; at 2 every mined triplet is open.
        miner: name of the miner of triplets, a module of `trainables.miners`.
    """

    needs = frozenset({"balanced", "normalised"})
    legal = {"margin": Interval(-2.0, 2.0), "miner": LEGAL_MINERS}
    invariances = frozenset({"permutation", "rotation", "scale"})
    is_vmappable = True

    def __init__(self, *, margin: float = 0.1, miner: str = "semihard_hardest") -> None:
        super().__init__(margin=margin, miner=miner)

    @staticmethod
    def compute(
        batch: Batch, parameters: Mapping[str, Tensor], hyperparameters: Hyperparameters
    ) -> LossOutput:
        """See `Loss.compute`. A triplet is active where its hinge is open."""
        S_BB = cosines(batch)
        margin = hyperparameters["margin"]
        candidates = all_triplets(batch, S_BB)
        mined = mine_triplets(batch, candidates, hyperparameters, margin)
        return mean_open_hinge(S_BB, candidates, mined, margin)
