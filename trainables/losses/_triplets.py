"""Triplets that a miner keeps, and hinges over them.

S_BB = cosines, B = batch, N = ranks of an anchor's negatives = B.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput
from podium.trainables.loss_composition.miner_base import (
    Candidates,
    Runs,
    TripletMiner,
    num_below,
    pair_masks,
    rank_negatives,
)
from podium.trainables.losses._pairs import cosines
from podium.trainables.registry import load, names

_MINERS: Mapping[str, type[TripletMiner]] = {
    name: load("miners", name) for name in names("miners")
}


class MinedLoss(Loss):
    """A loss over triplets, with a hyperparameter ``miner`` that says which of them."""

    def __init__(self, **hyperparameters: float | str) -> None:
        super().__init__(**hyperparameters)
        self.is_random = _MINERS[self.hyperparameters["miner"]].is_random


def all_triplets(batch: Batch, S_BB: Tensor) -> Candidates:
    """Every triplet of the batch."""
    embedding_dim = batch.normalised_BD.shape[1]
    return rank_negatives(S_BB, pair_masks(batch), embedding_dim, batch.uniform_BB)


def mine_triplets(
    candidates: Candidates, hyperparameters: Hyperparameters, margin: float | Tensor
) -> Runs:
    """The triplets that the miner named by the hyperparameters keeps.

    Args:
        candidates: all triplets of the batch.
        hyperparameters: those of a `MinedLoss`.
        margin: margin of the loss, as a difference of cosines.
    """
    return _MINERS[hyperparameters["miner"]].mine(candidates, margin)


def num_triplets(candidates: Candidates) -> Tensor:
    """How many triplets the batch has, at least 1 to divide by."""
    return (candidates.positive_BB * candidates.num_negatives_B1).sum().clamp(min=1)


def count_pairs(candidates: Candidates, runs: Runs) -> tuple[Tensor, Tensor]:
    """In how many kept triplets each pair of anchor and positive takes part, and each negative.

    Both have shape (B, B) and the dtype of the cosines.
    """
    num_kept_BB = (runs.stop_BB - runs.start_BB).clamp(min=0)
    # A run adds 1 from its start on, and takes it back from its stop on. An empty run has both
    # moved to one place, so that it adds nothing.
    ends_BB = runs.start_BB + num_kept_BB
    steps_BN = torch.zeros_like(torch.nn.functional.pad(num_kept_BB, (0, 1)))
    ones_BB = torch.ones_like(num_kept_BB)
    steps_BN = steps_BN.scatter_add(1, runs.start_BB, ones_BB).scatter_add(1, ends_BB, -ones_BB)
    by_rank_BN = steps_BN[:, :-1].cumsum(1)
    dtype = candidates.similarities_BB.dtype
    by_sample_BB = torch.zeros_like(by_rank_BN).scatter(1, candidates.order_BN, by_rank_BN)
    return num_kept_BB.to(dtype), by_sample_BB.to(dtype)


def mean_mined_hinge(
    batch: Batch, hyperparameters: Hyperparameters, margin: float | Tensor
) -> LossOutput:
    """`mean_open_hinge` of the mined triplets of a batch; arguments as in `mine_triplets`."""
    S_BB = cosines(batch)
    candidates = all_triplets(batch, S_BB)
    mined = mine_triplets(candidates, hyperparameters, margin)
    return mean_open_hinge(S_BB, candidates, mined, margin)


def mean_open_hinge(
    S_BB: Tensor, candidates: Candidates, runs: Runs, margin: float | Tensor
) -> LossOutput:
    """Mean of S_an - S_ap + margin over the kept triplets where it is above 0.

    Without any it is 0 with gradient 0. Active are the open hinges, among all triplets.
    """
    first_open_BB = num_below(candidates, candidates.similarities_BB - margin, or_equal=True)
    runs = Runs(runs.start_BB.maximum(first_open_BB), runs.stop_BB)
    positive_BB, negative_BB = count_pairs(candidates, runs)
    num_open = positive_BB.sum()
    # The sum over triplets is linear in the cosines: each counts as often as its pair.
    shares_BB = (negative_BB - positive_BB) / num_open.clamp(min=1.0)
    has_open = (num_open > 0.0).to(S_BB.dtype)
    value = (shares_BB * S_BB).sum() + margin * has_open
    return LossOutput(value, num_open / num_triplets(candidates))
