"""Random negatives. B = batch."""

from torch import Tensor

from podium.trainables.loss_composition.miner_base import Candidates, Runs, TripletMiner


class RandomNegative(TripletMiner):
    """For each anchor and positive one negative, all equally likely."""

    is_random = True

    @staticmethod
    def mine(candidates: Candidates, margin: float | Tensor) -> Runs:
        """See `TripletMiner.mine`."""
        uniform_BB = candidates.uniform_BB
        assert uniform_BB is not None, "a miner that draws gets random numbers"
        num_negatives_B1 = candidates.num_negatives_B1
        # Rounding may make it the number of negatives itself.
        last_B1 = (num_negatives_B1 - 1).clamp(min=0)
        start_BB = (uniform_BB * num_negatives_B1).long().minimum(last_B1)
        has_triplet_BB = candidates.positive_BB & (num_negatives_B1 > 0)
        return Runs(start_BB, (start_BB + 1) * has_triplet_BB)
