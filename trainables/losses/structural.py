"""Structural loss of Yang et al. (Duffner et al. 2021): weighted pairs, bounded variances.

D2_BB = squared distances on the unit sphere, B = batch.
"""

import torch
from torch import Tensor
from torch.nn.functional import softplus

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._pairs import cosines, log_sum_exp, masked_mean
from podium.trainables.settings.legal_ranges import Interval, Parameter


class Structural(Loss):
    """A positive pair against all negatives of its anchor, and a bound on how distances scatter.

    weighted mean over positive pairs (i, j) of
    log(1 + sum over negatives k of exp((D2_ij - D2_ik + margin) / temperature))
    + variance_weight / 2 * ([var_p - positive_variance]+ + [var_n - negative_variance]+).

    A pair weighs exp(D2_ij - tau), where tau is twice the mean less the minimum of D2 over the
    positive pairs of its class; no gradient flows through the weights. var_p and var_n are the
    variances of D2 over all positive and over all negative pairs of the batch.

    Source: the structural loss of Yang et al. as in Duffner et al. 2021. The defaults are ours,
    and second-order statistics are read as variances.

    A pair is active if its anchor has a negative. Without an active pair the loss is 0 with
    gradient 0, the variances included.

    Args:
        margin: squared distance by which negatives should be further away.
        temperature: softness of the margin (squared distance; xi in the source).
        variance_weight: weight of the bound on the variances.
        positive_variance: free variance of positive pairs ((squared distance)^2).
        negative_variance: the same of negative pairs.
    """

    kind = "tuple"
    source = "Yang et al., as in Duffner et al. 2021, Similarity Metric Learning"
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "margin": Parameter(0.2, Interval(0.0, 4.0), unit="squared distance", source="own"),
        "temperature": Parameter(0.5, Interval(1e-3, 1e3), unit="squared distance", source="own"),
        "variance_weight": Parameter(1.0, Interval(0.0, 1e3), source="own"),
        "positive_variance": Parameter(
            0.05, Interval(0.0, 4.0), unit="(squared distance)^2", source="own"
        ),
        "negative_variance": Parameter(
            0.05, Interval(0.0, 4.0), unit="(squared distance)^2", source="own"
        ),
    }

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        temperature = hyperparameters["temperature"]
        D2_BB = 2.0 - 2.0 * cosines(batch)
        positive_BB, negative_BB = pair_masks(batch)
        active_BB = positive_BB & negative_BB.any(1)[:, None]

        # The pair's own distance is the same in every term of the sum over negatives.
        nearness_B = log_sum_exp(-D2_BB / temperature, negative_BB, dim=1)
        own_BB = (D2_BB + hyperparameters["margin"]) / temperature
        terms_BB = softplus(own_BB + nearness_B[:, None])
        weights_BB = _pair_weights(D2_BB.detach(), positive_BB).where(active_BB, 0.0)
        num_active = active_BB.sum()
        total_weight = weights_BB.sum().where(num_active > 0, 1.0)
        ranking = (weights_BB * terms_BB).sum() / total_weight

        scatter_p = _variance(D2_BB, positive_BB) - hyperparameters["positive_variance"]
        scatter_n = _variance(D2_BB, negative_BB) - hyperparameters["negative_variance"]
        scatter = (scatter_p.clamp(min=0.0) + scatter_n.clamp(min=0.0)).where(num_active > 0, 0.0)
        value = ranking + 0.5 * hyperparameters["variance_weight"] * scatter
        return LossOutput(value, num_active / positive_BB.sum().clamp(min=1))


def _pair_weights(D2_BB: Tensor, positive_BB: Tensor) -> Tensor:
    """exp(D2 - tau) of every pair, tau being that of the anchor's class."""
    diagonal_BB = torch.eye(len(D2_BB), dtype=torch.bool, device=D2_BB.device)
    same_BB = positive_BB | diagonal_BB
    sums_B = same_BB.to(D2_BB.dtype) @ D2_BB.where(positive_BB, 0.0).sum(1)
    counts_B = same_BB.to(D2_BB.dtype) @ positive_BB.to(D2_BB.dtype).sum(1)
    row_minimum_B = D2_BB.masked_fill(~positive_BB, torch.inf).amin(1)
    minimum_B = row_minimum_B.expand_as(D2_BB).masked_fill(~same_BB, torch.inf).amin(1)
    tau_B = 2.0 * sums_B / counts_B.clamp(min=1.0) - minimum_B.where(counts_B > 0.0, 0.0)
    return torch.exp(D2_BB - tau_B[:, None])


def _variance(values: Tensor, mask: Tensor) -> Tensor:
    """Mean squared deviation from the mean, where ``mask`` holds; 0 where it holds nowhere."""
    return masked_mean((values - masked_mean(values, mask)).square(), mask)
