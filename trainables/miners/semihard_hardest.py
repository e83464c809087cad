"""Semi-hard mining without a margin. S_BB = cosines, B = batch."""

from torch import Tensor

from podium.trainables.loss_composition.miner_base import Candidates, Runs, TripletMiner, num_below


class SemihardHardest(TripletMiner):
    """For each anchor and positive the hardest negative that is easier than the positive.

    n = argmax of S_an subject to S_an < S_ap, without a margin. Equally similar negatives are all
    kept. Where every negative is harder than the positive nothing is kept.

    Source: Psomas 2020, Metric Learning: A Deep Dive, equation 2.20.
    """

    @staticmethod
    def mine(candidates: Candidates, margin: float | Tensor) -> Runs:
        """See `TripletMiner.mine`."""
        stop_BB = num_below(candidates, candidates.similarities_BB)
        hardest_BB = candidates.ascending_BN.gather(1, (stop_BB - 1).clamp(min=0))
        return Runs(num_below(candidates, hardest_BB), stop_BB)
