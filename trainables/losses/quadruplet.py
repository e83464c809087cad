"""Quadruplet loss (Chen et al. 2017): `triplet_l2` plus pairs that share no sample, on hinges.

S_BB = cosines, subscripts i, j = two samples of a class, k, l = two of others, B = batch, Q = B^2
pairs.
"""

import torch
from torch import Tensor

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import PairMasks, pair_masks
from podium.trainables.losses._pairs import cosines
from podium.trainables.losses._triplets import all_triplets, mean_open_hinge, num_triplets
from podium.trainables.miners.all_triplets import AllTriplets
from podium.trainables.settings.legal_ranges import Interval, Parameter

# Cosines are compared in whole steps, so that an offset for each class does not round them.
_STEPS = 2**32
# Cosines and half a margin are at most 2 away from the offset of their class.
_BETWEEN_CLASSES = 8 * _STEPS
_BEYOND_ALL = 2**63 - 1


class Quadruplet(Loss):
    """The triplet loss, and positives nearer to each other than any two samples of other classes.

    mean over triplets with an open hinge of [D2_ij - D2_ik + triplet_margin]+
    + mean over quadruplets with an open hinge of [D2_ij - D2_kl + quadruplet_margin]+,
    where i and j are of one class, k and l of two others, and D2 is the squared distance of the
    normalised embeddings.

    Source: Chen et al. 2017, Beyond Triplet Loss, with fixed margins as in Roth et al. 2020. There
    the distance is the output of a trained layer, and the margins follow the batch. All
    quadruplets count, of the order of B^4: as the hinge is linear, its sum follows from how many
    open ones each pair is in, known from sorted cosines. The means leave out closed hinges,
    each its own, since quadruplets outnumber triplets by far.

    A mean without an open hinge is 0 with gradient 0.

    Args:
        triplet_margin: difference of squared distances.
        quadruplet_margin: the same for pairs without a common sample.
    """

    kind = "tuple"
    source = "Chen et al. 2017, Beyond Triplet Loss: a Deep Quadruplet Network"
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "triplet_margin": Parameter(
            0.2, Interval(-4.0, 4.0), unit="squared distance", source="Roth et al. 2020"
        ),
        "quadruplet_margin": Parameter(
            0.2, Interval(-4.0, 4.0), unit="squared distance", source="Roth et al. 2020"
        ),
    }

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. Active are the open hinges, of all triplets and quadruplets."""
        S_BB = cosines(batch)
        candidates = all_triplets(batch, S_BB)
        every = AllTriplets.mine(candidates, hyperparameters["triplet_margin"])
        # Differences of squared distances are twice those of cosines.
        triplets = mean_open_hinge(
            S_BB, candidates, every, hyperparameters["triplet_margin"] / 2.0
        )
        margin = hyperparameters["quadruplet_margin"] / 2.0
        pairs = pair_masks(batch)
        positive_BB, negative_BB = _open_quadruplets(S_BB.detach(), pairs, batch.labels_B, margin)
        num_open = positive_BB.sum().to(S_BB.dtype)
        shares_BB = (negative_BB - positive_BB) / num_open.clamp(min=1.0)
        has_open = (num_open > 0.0).to(S_BB.dtype)
        quadruplets = (shares_BB * S_BB).sum() + margin * has_open

        num_all_triplets = num_triplets(candidates)
        num_all = num_all_triplets + _num_quadruplets(pairs, batch.labels_B)
        active = (triplets.active_fraction * num_all_triplets + num_open) / num_all
        return LossOutput(2.0 * (triplets.value + quadruplets), active)


def _open_quadruplets(
    S_BB: Tensor, pairs: PairMasks, labels_B: Tensor, margin: float | Tensor
) -> tuple[Tensor, Tensor]:
    """In how many open quadruplets each positive is, and each negative: int64, twice (B, B).

    0 for pairs of the other kind. Open is a quadruplet with S_kl > S_ij - margin.

    Counted among all pairs of two classes, less those with a sample of the class of i and j.
    """
    S_BB = (S_BB + S_BB.T).double() / 2.0  # pairs are alike both ways round
    # Half of the margin each, so that under vmap both sides are mapped.
    positives_BB = ((S_BB - margin / 2.0) * _STEPS).round().long()
    negatives_BB = ((S_BB + margin / 2.0) * _STEPS).round().long()
    labels_B1 = labels_B[:, None]
    all_positive_BB, all_negative_BB = _pairs_beyond(
        positives_BB, negatives_BB, pairs, torch.zeros_like(labels_B1)
    )
    own_positive_BB, own_BB = _pairs_beyond(
        positives_BB, negatives_BB, pairs, _BETWEEN_CLASSES * labels_B1
    )
    # Of k and l either may be of the class of i and j.
    positive_BB = all_positive_BB - 2 * own_positive_BB
    negative_BB = all_negative_BB - own_BB - own_BB.T
    return positive_BB * pairs.positive_BR, negative_BB * pairs.negative_BR


def _pairs_beyond(
    positives_BB: Tensor, negatives_BB: Tensor, pairs: PairMasks, offsets_B1: Tensor
) -> tuple[Tensor, Tensor]:
    """With how many pairs of the other kind each pair is open, in rows of equal offset."""
    positives_BB = (positives_BB + offsets_B1).where(pairs.positive_BR, _BEYOND_ALL)
    negatives_BB = (negatives_BB + offsets_B1).where(pairs.negative_BR, _BEYOND_ALL)
    positives_Q, negatives_Q = positives_BB.flatten(), negatives_BB.flatten()
    num_below_Q = torch.searchsorted(positives_Q.sort().values, negatives_Q)
    num_up_to_Q = torch.searchsorted(negatives_Q.sort().values, positives_Q, right=True)

    # What lies in rows of smaller offset is below all of this row, and is taken out.
    is_smaller_BB = offsets_B1 > offsets_B1.T
    num_positives_B, num_negatives_B = pairs.positive_BR.sum(1), pairs.negative_BR.sum(1)
    first_B1 = (is_smaller_BB * num_positives_B).sum(1, keepdim=True)
    stop_B1 = ((offsets_B1 >= offsets_B1.T) * num_negatives_B).sum(1, keepdim=True)
    num_up_to_BB, num_below_BB = (
        found_Q.view_as(pairs.positive_BR) for found_Q in (num_up_to_Q, num_below_Q)
    )
    return stop_B1 - num_up_to_BB, num_below_BB - first_B1


def _num_quadruplets(pairs: PairMasks, labels_B: Tensor) -> Tensor:
    """How many quadruplets the batch has."""
    num_positives_B, num_negatives_B = pairs.positive_BR.sum(1), pairs.negative_BR.sum(1)
    size_B = (labels_B[:, None] == labels_B).sum(1)
    # Each sample of the class of i is k or l of a pair with every sample of the others.
    of_others_B = num_negatives_B.sum() - 2 * size_B * num_negatives_B
    return (num_positives_B * of_others_B).sum()
