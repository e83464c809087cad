"""Smooth-AP (Brown et al. 2020): average precision by sigmoids; `fast_ap` has histograms.

S_BB = cosines, B = batch.
"""

import torch

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._pairs import cosines, masked_mean
from podium.trainables.settings.legal_ranges import Interval, Parameter


class SmoothAp(Loss):
    """1 - average precision, with sigmoids for the comparisons that ranks are made of.

    AP_i = mean over positives j of R(j, P) / R(j, P and N) with the rank
    R(j, A) = 1 + sum over k in A, k != j, of sigmoid((S_ik - S_ij) / temperature).
    The loss is the mean of 1 - AP_i over anchors with a positive.

    Source: Brown et al. 2020. The authors' code (and pytorch-metric-learning's, after it) has the
    anchor among its own positives, where it outranks everything; here it is no partner of itself,
    as in retrieval.

    An anchor without negatives is ranked perfectly: it counts in the mean with 0 and gradient 0.
    Memory grows with B^3 (23 MB a copy at 180), so there are no references.

    Args:
        temperature: cosine over which a comparison tips.
    """

    kind = "ranking"
    source = "Brown et al. 2020, Smooth-AP: Smoothing the Path Towards Large-Scale Image Retrieval"
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "temperature": Parameter(0.01, Interval(1e-4, 10.0), unit="cosine", source="paper")
    }

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. An anchor is active if it has positives and negatives."""
        scaled_BB = cosines(batch) / hyperparameters["temperature"]
        positive_BB, negative_BB = pair_masks(batch)
        # (anchor, ranked, compared). One tensor of B^3, made in place; the sums over k are a
        # product of matrices, which needs no masked copy.
        outranks_BBB = (scaled_BB[:, None, :] - scaled_BB[:, :, None]).sigmoid_()
        masks_BB2 = torch.stack((positive_BB, negative_BB), dim=2).to(scaled_BB.dtype)
        positives_before_BB, negatives_before_BB = (outranks_BBB @ masks_BB2).unbind(2)
        # A positive is among its own comparisons with sigmoid(0) = 0.5, which makes 1 of it.
        rank_BB = positives_before_BB + negatives_before_BB + 0.5
        # 1 - AP, which is exactly 0 without negatives.
        missed_BB = (negatives_before_BB / rank_BB).where(positive_BB, 0.0)
        num_positives_B = positive_BB.sum(1)
        missed_B = missed_BB.sum(1) / num_positives_B.clamp(min=1)
        has_positive_B = num_positives_B > 0
        active_B = has_positive_B & negative_BB.any(1)
        return LossOutput(masked_mean(missed_B, has_positive_B), active_B.sum() / len(active_B))
