"""The miner of the multi-similarity loss. S_BB = cosines, B = batch."""

from collections.abc import Mapping
from math import inf

from torch import Tensor

from trainables.miners._base import PairMasks, PairMiner

__all__ = ["MultiSimilarityMiner"]


class MultiSimilarityMiner(PairMiner):
    """Pairs that violate, within ``epsilon``, the order of an anchor's similarities.

    A negative n is kept where S_an + epsilon > min over positives of S_ap; a positive p where
    S_ap - epsilon < max over negatives of S_an (Wang et al. 2019, equations 12 and 13). An anchor
    without positives or without negatives keeps nothing. Reads ``epsilon`` (cosine).
    """

    @staticmethod
    def mine(
        similarities_BB: Tensor, pairs: PairMasks, hyperparameters: Mapping[str, float | Tensor]
    ) -> PairMasks:
        """See `PairMiner.mine`."""
        epsilon = hyperparameters["epsilon"]
        S_BB = similarities_BB.detach()
        hardest_positive_B1 = S_BB.masked_fill(~pairs.positive_BB, inf).amin(1, keepdim=True)
        hardest_negative_B1 = S_BB.masked_fill(~pairs.negative_BB, -inf).amax(1, keepdim=True)
        return PairMasks(
            pairs.positive_BB & (S_BB - epsilon < hardest_negative_B1),
            pairs.negative_BB & (S_BB + epsilon > hardest_positive_B1),
        )
