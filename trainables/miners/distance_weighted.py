"""Distance-weighted sampling. B = batch, N = ranks = B."""

import torch
from torch import Tensor

from podium.trainables.loss_composition.miner_base import Candidates, Runs, TripletMiner

# Nearer ones are drawn as if they were this far, against a high variance (authors' code).
_NEAREST = 0.5
# Farther ones are beyond the hinge of the margin loss (authors' code).
_FARTHEST = 1.4

# Weights are counted in whole numbers, whose sums are exact and the same on every device. Below
# half of one, 5e-10 of an anchor's largest weight, a negative is not drawn.
_LARGEST_WEIGHT = 2.0**30


class DistanceWeighted(TripletMiner):
    """For each anchor and positive one negative, such that all distances are equally likely.

    Drawn with weight 1 / q(max(D, 0.5)) for D < 1.4, else 0, where q(D) = D^(d-2)
    (1 - D^2 / 4)^((d-3)/2) is the density of distances on the unit sphere in d dimensions.

    Source: Wu et al. 2017, Sampling Matters in Deep Embedding Learning, section 4, and their code.

    There the weights are scaled by the largest of the batch; in 512 dimensions a single close pair
    then leaves most other anchors without any weight. Here they are scaled by the largest of the
    anchor, and an anchor whose negatives are all 1.4 away or farther draws any of them.
    """

    is_random = True

    @staticmethod
    def mine(candidates: Candidates, margin: float | Tensor) -> Runs:
        """See `TripletMiner.mine`."""
        uniform_BB = candidates.uniform_BB
        assert uniform_BB is not None, "a miner that draws gets random numbers"
        up_to_BN = _weights(candidates).cumsum(1)
        total_B1 = up_to_BN[:, -1:]
        drawn_BB = (uniform_BB.double() * total_B1).long().minimum(total_B1 - 1)
        start_BB = torch.searchsorted(up_to_BN, drawn_BB.contiguous(), right=True)
        has_triplet_BB = candidates.positive_BB & (total_B1 > 0)
        return Runs(start_BB, (start_BB + 1) * has_triplet_BB)


def _weights(candidates: Candidates) -> Tensor:
    """How likely each rank is drawn, in whole numbers up to 2^30: int64, shape (B, N)."""
    squared_BN = 2.0 - 2.0 * candidates.ascending_BN
    is_near_BN = squared_BN < _FARTHEST**2
    squared_BN = squared_BN.clamp(_NEAREST**2, _FARTHEST**2)
    embedding_dim = candidates.embedding_dim
    log_BN = (2.0 - embedding_dim) / 2.0 * squared_BN.log()
    log_BN = log_BN - (embedding_dim - 3.0) / 2.0 * torch.log1p(-0.25 * squared_BN)

    ranks_N = torch.arange(squared_BN.shape[1], device=squared_BN.device)
    is_negative_BN = ranks_N < candidates.num_negatives_B1
    is_drawn_BN = is_negative_BN & is_near_BN
    is_drawn_BN = torch.where(is_drawn_BN.any(1, keepdim=True), is_drawn_BN, is_negative_BN)
    log_BN = log_BN.where(is_near_BN, 0.0).masked_fill(~is_drawn_BN, -torch.inf)
    top_B1 = log_BN.amax(1, keepdim=True).clamp(min=-1e30)  # finite without negatives
    weights_BN = torch.exp((log_BN - top_B1).double()) * _LARGEST_WEIGHT
    return weights_BN.round().long()
