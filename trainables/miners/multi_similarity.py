"""The miner of the multi-similarity loss. S_BR = cosines, B = batch, R = references."""

from math import inf

from torch import Tensor

from trainables.loss_composition.loss_base import Hyperparameters
from trainables.loss_composition.miner_base import PairMasks, PairMiner

__all__ = ["MultiSimilarityMiner"]


class MultiSimilarityMiner(PairMiner):
    """Pairs that violate, within ``epsilon``, the order of an anchor's similarities.

    A negative n is kept where S_an + epsilon > min over positives of S_ap; a positive p where
    S_ap - epsilon < max over negatives of S_an (Wang et al. 2019, equations 12 and 13). An anchor
    without positives or without negatives keeps nothing. Reads ``epsilon`` (cosine).
    """

    @staticmethod
    def mine(
        similarities_BR: Tensor, pairs: PairMasks, hyperparameters: Hyperparameters
    ) -> PairMasks:
        """See `PairMiner.mine`."""
        epsilon = hyperparameters["epsilon"]
        S_BR = similarities_BR.detach()
        hardest_positive_B1 = S_BR.masked_fill(~pairs.positive_BR, inf).amin(1, keepdim=True)
        hardest_negative_B1 = S_BR.masked_fill(~pairs.negative_BR, -inf).amax(1, keepdim=True)
        return PairMasks(
            pairs.positive_BR & (S_BR - epsilon < hardest_negative_B1),
            pairs.negative_BR & (S_BR + epsilon > hardest_positive_B1),
        )
