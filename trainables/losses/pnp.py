"""PNP (Li et al. 2022): how many negatives come before each positive; `smooth_ap` counts both.

S_BB = cosines, B = batch.
"""

import torch
from torch import Tensor

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._pairs import cosines, masked_mean
from podium.trainables.settings.legal_ranges import Interval, OneOf, Parameter


class Pnp(Loss):
    """A function of how many negatives are more similar to an anchor than its positive is.

    R_ij = sum over negatives n of sigmoid((S_in - S_ij) / temperature);
    the loss is the mean over anchors of the mean over positives j of one of
    O: R, Ds: log(1 + R), Dq: 1 - (1 + R)^-alpha,
    Iu: (1 + R) log(1 + R), Ib: (b R - log(1 + b R)) / b^2.

    Source: Li et al. 2022, whose best is Dq. The authors' code runs it with alpha 4, which leaves
    positives behind many negatives almost without gradient and a small network near its start; the
    default is pytorch-metric-learning's. Both codes have the anchor among its own positives, which
    adds almost 0 to the sum and 1 to the count; here it is no partner of itself.

    An anchor without positives or without negatives is left out. Memory grows with B^3.

    Args:
        temperature: cosine over which a comparison tips.
        variant: O, Ds, Dq, Iu or Ib, decreasing or increasing in its derivative.
        alpha: power of Dq.
        b: sharpness of Ib.
    """

    kind = "ranking"
    source = "Li et al. 2022, Only Penalizing Negative Instances before Positive Ones is Enough"
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "temperature": Parameter(0.01, Interval(1e-4, 10.0), unit="cosine", source="paper"),
        "variant": Parameter("Dq", OneOf(("O", "Ds", "Dq", "Iu", "Ib")), source="authors' code"),
        "alpha": Parameter(
            1.0, Interval(1e-2, 100.0), source="pytorch-metric-learning (authors' code: 4)"
        ),
        "b": Parameter(2.0, Interval(1e-2, 100.0), source="pytorch-metric-learning"),
    }

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. An anchor is active if it has positives and negatives."""
        scaled_BB = cosines(batch) / hyperparameters["temperature"]
        positive_BB, negative_BB = pair_masks(batch)
        # (anchor, positive, negative).
        outranks_BBB = (scaled_BB[:, None, :] - scaled_BB[:, :, None]).sigmoid()
        before_BB = (outranks_BBB @ negative_BB.to(scaled_BB.dtype)[:, :, None]).squeeze(2)
        costs_BB = _cost(before_BB, hyperparameters).where(positive_BB, 0.0)
        cost_B = costs_BB.sum(1) / positive_BB.sum(1).clamp(min=1)
        active_B = positive_BB.any(1) & negative_BB.any(1)
        return LossOutput(masked_mean(cost_B, active_B), active_B.sum() / len(active_B))


def _cost(before_BB: Tensor, hyperparameters: Hyperparameters) -> Tensor:
    b: float | Tensor = hyperparameters["b"]
    match hyperparameters["variant"]:
        case "O":
            return before_BB
        case "Ds":
            return before_BB.log1p()
        case "Dq":
            return -torch.expm1(-hyperparameters["alpha"] * before_BB.log1p())
        case "Iu":
            return (1.0 + before_BB) * before_BB.log1p()
    return (b * before_BB - (b * before_BB).log1p()) / b**2
