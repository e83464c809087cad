"""Semi-hard mining within the margin. S_BB = cosines, B = batch."""

from torch import Tensor

from podium.trainables.loss_composition.miner_base import Candidates, Runs, TripletMiner, num_below


class SemihardBand(TripletMiner):
    """All negatives behind the positive, but by no more than the margin.

    Kept where 0 < S_ap - S_an <= margin.

    Source: pytorch-metric-learning.
    """

    @staticmethod
    def mine(candidates: Candidates, margin: float | Tensor) -> Runs:
        """See `TripletMiner.mine`."""
        S_BB = candidates.similarities_BB
        start_BB = num_below(candidates, S_BB - margin)
        return Runs(start_BB, num_below(candidates, S_BB))
