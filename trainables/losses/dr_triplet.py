"""Loss of Mohan et al. 2020: `triplet_l2`, regularised by the direction of negatives.

S_BB = cosines, D_BB = distances, subscripts a, p, n = anchor, positive, negative, B = batch.
"""

import torch
from torch import Tensor

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import kept_mask
from podium.trainables.losses._pairs import cosines, distances
from podium.trainables.losses._triplets import (
    MinedLoss,
    all_triplets,
    mine_triplets,
    num_triplets,
)
from podium.trainables.settings.legal_ranges import Interval, OneOf, Parameter, entry_of

# In float32 the difference of two nearer unit vectors is mostly rounding and has no direction.
_SHORTEST = 1e-3


class DRTriplet(MinedLoss):
    """`TripletL2` that spares negatives whose way from the anchor leads along the positive.

    mean over mined triplets with an open hinge of [D2_ap - D2_an + margin - gamma kappa]+, where
    D2 is the squared distance of the normalised embeddings and kappa the cosine between n - a and
    p - a: to push n straight away from a would also move it towards or away from p.

    Source: Mohan et al. 2020, Moving in the Right Direction; the survey of Mohan et al. 2023
    prints it without the hinge. With gamma = 0 this is `TripletL2`. Where n - a or p - a is
    shorter than 0.001, kappa is 0 with gradient 0; without an open hinge the loss is.

    Every triplet of the batch is computed, mined or not, so time and memory grow with B^3.

    Args:
        margin: difference of squared distances.
        gamma: weight of the direction (squared distance).
        miner: name of the miner of triplets, a module of `trainables.miners`.
        form: ``printed`` takes (1 - cos(p, a)) / (|n - a| |p - a|) for kappa, as the survey of
            Mohan et al. 2023 (eq. 32) and GradML print; it is no cosine where n is elsewhere.
    """

    kind = "triplet"
    source = "Mohan et al. 2020, Moving in the Right Direction: a Regularization for DML"
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "margin": Parameter(
            0.2, Interval(-4.0, 4.0), unit="squared distance", source="triplet_l2's"
        ),
        "gamma": Parameter(
            0.1, Interval(0.0, 10.0), unit="squared distance", source="own: none is published"
        ),
        "miner": Parameter("semihard_hardest", entry_of("miners"), source="triplet_l2's"),
        "form": Parameter("cosine", OneOf(("cosine", "printed")), source="the name, not eq. 32"),
    }

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. A triplet is active where its hinge is open."""
        margin, gamma = hyperparameters["margin"], hyperparameters["gamma"]
        S_BB = cosines(batch)
        D_BB = distances(2.0 - 2.0 * S_BB)
        reciprocals_BB = D_BB.reciprocal().where(D_BB > _SHORTEST, 0.0)
        candidates = all_triplets(batch, S_BB)
        mined = mine_triplets(candidates, hyperparameters, margin / 2.0)

        # Which hinges are open takes all triplets one by one, but no gradient; their sum does not
        # take them one by one.
        is_printed = hyperparameters["form"] == "printed"
        relief_BBB = gamma * _directions(
            candidates.similarities_BB, reciprocals_BB.detach(), is_printed=is_printed
        )
        twice_BB = 2.0 * candidates.similarities_BB
        is_behind_BBB = twice_BB[:, None, :] - relief_BBB > (twice_BB - margin)[:, :, None]
        is_open_BBB = (kept_mask(candidates, mined) & is_behind_BBB).to(S_BB.dtype)
        num_positive_BB, num_negative_BB = is_open_BBB.sum(2), is_open_BBB.sum(1)
        num_open = num_positive_BB.sum()

        total = (2.0 * (num_negative_BB - num_positive_BB) * S_BB).sum() + margin * num_open
        total = total - gamma * _sum_of_directions(
            S_BB, reciprocals_BB, is_open_BBB, is_printed=is_printed
        )
        return LossOutput(total / num_open.clamp(min=1.0), num_open / num_triplets(candidates))


def _directions(S_BB: Tensor, reciprocals_BB: Tensor, *, is_printed: bool) -> Tensor:
    """Cosines of n - a and p - a for all (a, p, n): (S_pn - S_an - S_ap + 1) / (D_ap D_an)."""
    if is_printed:
        return ((1.0 - S_BB) * reciprocals_BB)[:, :, None] * reciprocals_BB[:, None, :]
    directions_BBB = S_BB[None, :, :] - (S_BB - 1.0)[:, None, :]
    directions_BBB -= S_BB[:, :, None]
    directions_BBB *= reciprocals_BB[:, None, :]
    directions_BBB *= reciprocals_BB[:, :, None]
    return directions_BBB


def _sum_of_directions(
    S_BB: Tensor, reciprocals_BB: Tensor, weights_BBB: Tensor, *, is_printed: bool
) -> Tensor:
    """Sum of the cosines of n - a and p - a over all (a, p, n), each with its weight."""
    by_negative_BB2 = torch.stack([reciprocals_BB, reciprocals_BB * (S_BB - 1.0)], dim=2)
    without_BB, with_S_an_BB = (weights_BBB @ by_negative_BB2).unbind(2)
    if is_printed:
        return (reciprocals_BB * (1.0 - S_BB) * without_BB).sum()
    with_S_pn_BB = torch.einsum("apn,an,pn->ap", weights_BBB, reciprocals_BB, S_BB)
    return (reciprocals_BB * (with_S_pn_BB - with_S_an_BB - S_BB * without_BB)).sum()
