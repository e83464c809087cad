"""Cross-entropy over classes, with and without margins.

B = batch, C = training classes; S_BC = cosines, or one similarity for each class.
"""

import math

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from podium.trainables.loss_composition.loss_base import LossOutput
from podium.trainables.losses._pairs import angles


def classify(logits_BC: Tensor, labels_B: Tensor) -> LossOutput:
    """Mean cross-entropy. Every sample is active, unless there is one class only."""
    value = cross_entropy(logits_BC, labels_B)
    return LossOutput(value, torch.full_like(value, float(logits_BC.shape[1] > 1)))


def own_class(values_BC: Tensor, labels_B: Tensor) -> Tensor:
    """The entries of the samples' own classes: shape (B,)."""
    return values_BC.gather(1, labels_B[:, None]).squeeze(1)


def add_to_own(values_BC: Tensor, labels_B: Tensor, summands_B: Tensor) -> Tensor:
    """``values_BC`` with something added to the entries of the samples' own classes."""
    return values_BC.scatter_add(1, labels_B[:, None], summands_B[:, None])


def angular_margin(S_BC: Tensor, labels_B: Tensor, margin_degrees: float | Tensor) -> Tensor:
    """Cosines, with the angle to the own class widened by a margin.

    Beyond 180 degrees the cosine would rise again. There it is S - margin sin(margin), with the
    margin in radians, as in the authors' code.
    """
    own_B = own_class(S_BC, labels_B)
    angle_B = angles(own_B)
    margin_B = torch.zeros_like(own_B) + margin_degrees * (math.pi / 180.0)
    widened_B = torch.where(
        angle_B + margin_B <= math.pi,
        (angle_B + margin_B).cos(),
        own_B - margin_B * margin_B.sin(),
    )
    return add_to_own(S_BC, labels_B, widened_B - own_B)


def log_sum_exp_of_others(logits_BC: Tensor, labels_B: Tensor) -> Tensor:
    """log(sum of exp(logit) over all classes but the own): shape (B,). Needs two classes."""
    others_BC = logits_BC.scatter(1, labels_B[:, None], -torch.inf)
    # The cross-entropy of any other class is this sum minus its logit. Its kernel is many times
    # faster than that of logsumexp where float32 underflows, as it does at a scale of 64.
    other_B = (labels_B + 1) % logits_BC.shape[1]
    return cross_entropy(others_BC, other_B, reduction="none") + own_class(others_BC, other_B)
