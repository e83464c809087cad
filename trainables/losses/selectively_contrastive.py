"""Selectively contrastive triplet loss, SCT (Xuan et al. 2020): hard negatives are pushed alone.

S_BR = cosines, B = batch, R = references.
"""

from math import inf

from torch import Tensor
from torch.nn.functional import softplus

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._pairs import cosines, masked_mean
from podium.trainables.settings.legal_ranges import Interval, Parameter

# Cosines that differ by less count as equal.
_TIE = 1e-6


class SelectivelyContrastive(Loss):
    """The easiest positive p of an anchor against its hardest negative n, or n alone.

    mean over anchors of hard_weight * S_an if S_an >= S_ap,
    else of -log(exp(S_ap / temperature) / (exp(S_ap / temperature) + exp(S_an / temperature))).

    Source: Xuan et al. 2020. The temperature is in the authors' code only; that code also takes a
    triplet as hard where S_an is above 0.8, and leaves out positives above 0.9999, which are no
    rules of the paper and are not followed. Equally similar ones share their place.

    Anchors without positives or without negatives are left out.

    Args:
        hard_weight: weight of a hard negative (lambda in the paper).
        temperature: difference of cosines that changes a probability ratio by the factor e.
    """

    kind = "triplet"
    source = "Xuan et al. 2020, Hard Negative Examples are Hard, but Useful"
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "hard_weight": Parameter(1.0, Interval(0.0, 1e3), source="paper"),
        "temperature": Parameter(0.1, Interval(1e-3, 1e2), unit="cosine", source="authors' code"),
    }
    takes_references = True

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. An anchor is active if it has positives and negatives."""
        S_BR = cosines(batch)
        positive_BR, negative_BR = pair_masks(batch)
        positive_B, negative_B = _most_similar(S_BR, positive_BR), _most_similar(S_BR, negative_BR)
        ahead_B = positive_B - negative_B
        hard_B = hyperparameters["hard_weight"] * negative_B
        easy_B = softplus(-ahead_B / hyperparameters["temperature"])
        active_B = positive_BR.any(1) & negative_BR.any(1)
        value = masked_mean(easy_B.where(ahead_B > _TIE, hard_B), active_B)
        return LossOutput(value, active_B.sum() / len(active_B))


def _most_similar(S_BR: Tensor, mask_BR: Tensor) -> Tensor:
    """The largest cosine where ``mask_BR`` holds, as the mean of those equal to it; else 0."""
    top_B1 = S_BR.detach().masked_fill(~mask_BR, -inf).amax(1, keepdim=True)
    top_BR = mask_BR & (top_B1 - _TIE < S_BR)
    return S_BR.where(top_BR, 0.0).sum(1) / top_BR.sum(1).clamp(min=1)
