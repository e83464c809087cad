"""Moderate positive mining. S_BB = cosines, B = batch."""

from math import inf

from torch import Tensor

from podium.trainables.loss_composition.miner_base import Candidates, Runs, TripletMiner, num_below


class ModeratePositives(TripletMiner):
    """For each anchor its most similar negative, and the hardest positive more similar than that.

    Where no positive is more similar than this negative, the most similar one. So harder
    positives, which may lie in a far part of their class, are left alone.

    Source: Shi et al. 2016, Embedding Deep Metric for Person Re-identification: A Study Against
    Large Variations, moderate positive mining.

    An image is never its own positive; an anchor without positives or without negatives keeps
    nothing. Of equally similar ones all are kept.
    """

    @staticmethod
    def mine(candidates: Candidates, margin: float | Tensor) -> Runs:
        """See `TripletMiner.mine`."""
        S_BB, positive_BB = candidates.similarities_BB, candidates.positive_BB
        stop_B1 = candidates.num_negatives_B1
        most_B1 = candidates.ascending_BN.gather(1, (stop_B1 - 1).clamp(min=0))

        is_closer_BB = positive_BB & (most_B1 < S_BB)
        hardest_B1 = S_BB.masked_fill(~is_closer_BB, inf).amin(1, keepdim=True)
        easiest_B1 = S_BB.masked_fill(~positive_BB, -inf).amax(1, keepdim=True)
        # Without a closer positive the first of them is inf.
        is_moderate_BB = positive_BB & (hardest_B1.minimum(easiest_B1) == S_BB)
        return Runs(num_below(candidates, most_B1), stop_B1 * is_moderate_BB)
