"""No choice. B = batch."""

import torch
from torch import Tensor

from podium.trainables.loss_composition.miner_base import Candidates, Runs, TripletMiner


class AllTriplets(TripletMiner):
    """Every triplet of the batch."""

    @staticmethod
    def mine(candidates: Candidates, margin: float | Tensor) -> Runs:
        """See `TripletMiner.mine`."""
        stop_BB = candidates.num_negatives_B1 * candidates.positive_BB
        return Runs(torch.zeros_like(stop_BB), stop_BB)
