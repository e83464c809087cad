"""Batch-hard mining. S_BB = cosines, B = batch."""

from math import inf

from torch import Tensor

from podium.trainables.loss_composition.miner_base import Candidates, Runs, TripletMiner, num_below


class BatchHard(TripletMiner):
    """For each anchor its least similar positive and its most similar negative.

    Source: Hermans et al. 2017, In Defense of the Triplet Loss.

    An image is never its own positive; an anchor without positives or without negatives keeps
    nothing. Of equally similar ones all are kept.
    """

    @staticmethod
    def mine(candidates: Candidates, margin: float | Tensor) -> Runs:
        """See `TripletMiner.mine`."""
        S_BB, positive_BB = candidates.similarities_BB, candidates.positive_BB
        least_B1 = S_BB.masked_fill(~positive_BB, inf).amin(1, keepdim=True)
        is_hardest_BB = positive_BB & (least_B1 >= S_BB)

        stop_B1 = candidates.num_negatives_B1
        most_B1 = candidates.ascending_BN.gather(1, (stop_B1 - 1).clamp(min=0))
        return Runs(num_below(candidates, most_B1), stop_B1 * is_hardest_BB)
