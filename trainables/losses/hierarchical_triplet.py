"""Hierarchical triplet loss (Ge et al. 2018): `triplet_l2` with margins from a tree of classes.

S_BB = cosines, D2_BB = squared distances, B = batch, L = levels.
"""

import torch
from torch import Tensor

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import (
    PairMasks,
    Runs,
    num_below,
    pair_masks,
    rank_negatives,
)
from podium.trainables.losses._pairs import cosines
from podium.trainables.losses._triplets import count_pairs, num_triplets
from podium.trainables.settings.legal_ranges import Interval, Parameter, Whole

# Of unit vectors.
_LARGEST_SQUARE = 4.0


class HierarchicalTriplet(Loss):
    """The triplet loss, with a margin that is larger for classes that merge higher up in a tree.

    1/2 mean over triplets of [D2_ap - D2_an + margin + d_H - s_a]+,
    where s_a is the mean D2 between samples of the anchor's class, and d_H the threshold of the
    level at which the classes of anchor and negative merge. The levels l = 0 to L have the
    thresholds d_l = d_0 + (4 - d_0) l / L, d_0 = mean over classes of s, and two classes merge at
    the first level at which a chain of classes leads from one to the other, neighbours in which
    have a mean D2 below d_l. D2 is the squared distance of the normalised embeddings.

    Source: Ge et al. 2018. Theirs is a tree of all classes, made of the embeddings of the whole
    training set before every epoch, by which they also choose the classes of a batch. This one is
    made of the batch, so that the loss is a function of the batch alone, and the sampler remains
    the study's: with few classes in a batch chains have fewer links, and classes merge higher up.
    No gradient flows through the margins. The mean counts satisfied triplets too, as theirs.
    Without triplets the value is 0 with gradient 0.

    Memory grows with L B^2, time with L B^3.

    Args:
        margin: squared distance by which classes should keep apart beyond the tree's (beta in the
            paper).
        levels: number of levels above the lowest (L), a whole number.
    """

    kind = "triplet"
    source = (
        "Ge et al. 2018, Deep Metric Learning with Hierarchical Triplet Loss; its tree is of"
        " all classes and remade each epoch, this one of the batch"
    )
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "margin": Parameter(0.1, Interval(-4.0, 4.0), unit="squared distance", source="paper"),
        "levels": Parameter(16, Whole(1, 64), source="paper"),
    }

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. A triplet is active where its hinge is open."""
        S_BB = cosines(batch)
        pairs = pair_masks(batch)
        of_tree_BB = _margins_of_tree(S_BB.detach(), pairs, hyperparameters["levels"])
        # The hinge is twice that of a push and a pull on cosines, with half of the margin each, so
        # that under vmap both sides are mapped.
        quarter = hyperparameters["margin"] / 4.0
        push_BB, pull_BB = S_BB + 0.5 * of_tree_BB + quarter, S_BB - quarter
        candidates = rank_negatives(push_BB, pairs, batch.normalised_BD.shape[1], None)
        first_open_BB = num_below(candidates, pull_BB.detach(), or_equal=True)
        behind_last_BB = candidates.num_negatives_B1 * candidates.positive_BB
        positive_BB, negative_BB = count_pairs(candidates, Runs(first_open_BB, behind_last_BB))
        total = (negative_BB * push_BB - positive_BB * pull_BB).sum()
        num_all = num_triplets(candidates)
        return LossOutput(total / num_all, positive_BB.sum() / num_all)


def _margins_of_tree(S_BB: Tensor, pairs: PairMasks, levels: int) -> Tensor:
    """d_H - s_a of every anchor and negative."""
    D2_BB = (2.0 - 2.0 * S_BB).clamp(min=0.0)
    same_BB = ~pairs.negative_BR
    num_of_class_B1 = same_BB.sum(1, keepdim=True)
    share_BB = same_BB / num_of_class_B1.to(S_BB.dtype)
    between_BB = share_BB @ D2_BB @ share_BB.T
    num_others_B = pairs.positive_BR.sum(1)
    of_sample_B = D2_BB.where(pairs.positive_BR, 0.0).sum(1) / num_others_B.clamp(min=1)
    within_B = share_BB @ of_sample_B

    # Each class counts once, and one of a single sample has no distance within.
    weight_B = (num_others_B > 0) / num_of_class_B1.squeeze(1).to(S_BB.dtype)
    lowest = (weight_B * within_B).sum() / weight_B.sum().clamp(min=0.5)
    step = (_LARGEST_SQUARE - lowest) / levels
    thresholds_L11 = lowest + step * torch.arange(levels, device=S_BB.device)[:, None, None]
    apart_LBB = ~_connected((between_BB < thresholds_L11) | same_BB, S_BB.dtype)
    return lowest + step * apart_LBB.sum(0) - within_B[:, None]


def _connected(linked_LBB: Tensor, dtype: torch.dtype) -> Tensor:
    """Which samples a chain of links leads to: each squaring doubles the length of chains."""
    num_samples = linked_LBB.shape[1]
    for _ in range((num_samples - 1).bit_length()):
        paths_LBB = linked_LBB.to(dtype)
        linked_LBB = paths_LBB @ paths_LBB > 0.0
    return linked_LBB
