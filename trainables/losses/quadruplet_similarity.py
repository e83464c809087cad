"""Loss of Yih et al. 2011: every positive pair against every negative pair, without a margin.

S_Q = cosines of unordered pairs, B = batch, Q = B (B - 1) / 2, M = groups of pairs, E = most pairs
in a group.
"""

import torch
from torch import Tensor
from torch.nn.functional import softplus

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.losses._pairs import cosines
from podium.trainables.settings.legal_ranges import Interval, Parameter

# On either side. Below this many pairs the loss is exact; 256 x 256 comparisons take about as long
# as the cosines of a batch.
_MAX_GROUPS = 256


class QuadrupletSimilarity(Loss):
    """Every positive pair should be more similar than every negative pair, softly.

    mean over positive pairs p and negative pairs n of log(1 + exp(-gamma (S_p - S_n))), where the
    two pairs need not share a sample.

    Source: Yih et al. 2011; Duffner et al. 2021. There are of the order of B^4 pairs of pairs, so
    each side is sorted and cut into at most 256 groups of neighbours, whose means stand for their
    members: single pairs at the hard end, where the gradients are, and large groups at the easy
    end. With up to 256 pairs on a side each is its own group, and the loss exact. Beyond that it
    is too small, by at most (gamma * width)^2 / 32 for each side, averaged over its pairs, where
    width is the span of cosines in a pair's group.

    Without a positive or without a negative pair the loss is 0 with gradient 0; every other batch
    is active. Where a cut falls between pairs of exactly equal cosine, the order of the batch
    decides which of them goes to which group.

    Args:
        gamma: sharpness (1/cosine).
    """

    kind = "tuple"
    source = "Yih et al. 2011, Learning Discriminative Projections for Text Similarity Measures"
    needs = frozenset({"balanced", "normalised"})
    declared = {"gamma": Parameter(10.0, Interval(1e-3, 1e3), unit="1/cosine", source="own")}

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        labels_B = batch.labels_B
        rows_Q, columns_Q = torch.triu_indices(
            len(labels_B), len(labels_B), offset=1, device=labels_B.device
        )
        S_Q = cosines(batch)[rows_Q, columns_Q]
        is_positive_Q = labels_B[rows_Q] == labels_B[columns_Q]
        positive_M, positive_share_M = _group_means(-S_Q, is_positive_Q)
        negative_M, negative_share_M = _group_means(S_Q, ~is_positive_Q)
        costs_MM = softplus(hyperparameters["gamma"] * (positive_M[:, None] + negative_M))
        value = positive_share_M @ costs_MM @ negative_share_M
        is_active = is_positive_Q.any() & ~is_positive_Q.all()
        return LossOutput(value, is_active.to(value.dtype))


def _group_means(hardness_Q: Tensor, mask_Q: Tensor) -> tuple[Tensor, Tensor]:
    """Sort where the mask holds and cut into groups: their means, and their shares of the pairs.

    Group g ends after the hardest (g / M)^2 of the pairs, but holds one pair at least while there
    are any; a group without members has share 0. Shapes depend on Q only.
    """
    num_pairs = len(hardness_Q)
    num_groups = max(1, min(_MAX_GROUPS, num_pairs))
    sorted_Q = hardness_Q.masked_fill(~mask_Q, -torch.inf).sort(descending=True).values
    num_kept = mask_Q.sum()
    groups = torch.arange(num_groups + 1, device=mask_Q.device)
    quadratic = (groups**2 * num_kept).div(num_groups**2, rounding_mode="floor")
    cuts = groups.maximum(quadratic).minimum(num_kept)
    starts_M, sizes_M = cuts[:-1], cuts.diff()
    largest_size = -(-2 * num_pairs // num_groups)  # rounded up
    offsets_E = torch.arange(largest_size, device=mask_Q.device)
    places_ME = (starts_M[:, None] + offsets_E).clamp(max=num_pairs - 1)
    members_ME = sorted_Q[places_ME].where(offsets_E < sizes_M[:, None], 0.0)
    shares_M = sizes_M / num_kept.clamp(min=1).to(hardness_Q.dtype)
    return members_ME.sum(1) / sizes_M.clamp(min=1), shares_M
