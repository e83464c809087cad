"""Loss of Mohan et al. 2020: `multi_similarity`, regularised by the direction of negatives.

S_BR = cosines, D_BR = distances, B = batch, R = references, D = embedding dimension.
"""

from math import inf

import torch
from torch import Tensor

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import PairMasks, pair_masks
from podium.trainables.losses._multi_similarity import multi_similarity
from podium.trainables.losses._pairs import cosines, distances
from podium.trainables.settings.legal_ranges import Interval, OneOf, Parameter

# In float32 the difference of two nearer unit vectors is mostly rounding and has no direction.
_SHORTEST = 1e-3


class DRMultiSimilarity(Loss):
    """`MultiSimilarity` that spares negatives whose way from the anchor leads along its positive.

    mean over anchors a of log(1 + sum_P exp(-alpha (S_ap - margin))) / alpha
    + log(1 + sum_N exp(beta (S_an - margin - gamma kappa_an))) / beta, over the pairs
    `mine_pairs` keeps, where kappa_an is the cosine between n - a and p - a on the unit sphere
    and p the hardest positive of a: to push n straight away from a would also move it towards or
    away from p.

    Source: Mohan et al. 2020, Moving in the Right Direction, whose regulariser lowers the
    exponent by gamma kappa. With gamma = 0 this is `MultiSimilarity`, and the mean runs over the
    same anchors. Where n - a or p - a is shorter than 0.001, kappa is 0 with gradient 0.

    Args:
        alpha: sharpness on positives.
        beta: sharpness on negatives.
        margin: cosine at which a pair weighs 1.
        epsilon: slack of the miner (cosine); at 2 every pair of an anchor is kept.
        gamma: weight of the direction (cosine).
        form: ``printed`` takes (1 - cos(p, a)) / (|n - a| |p - a|) for kappa, as the survey of
            Mohan et al. 2023 (eq. 32) and GradML print; it is no cosine where n is elsewhere.
    """

    kind = "pair"
    source = "Mohan et al. 2020, Moving in the Right Direction: a Regularization for DML"
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "alpha": Parameter(2.0, Interval(1e-3, 1e3), unit="1/cosine", source="multi_similarity's"),
        "beta": Parameter(50.0, Interval(1e-3, 1e3), unit="1/cosine", source="multi_similarity's"),
        "margin": Parameter(0.5, Interval(-1.0, 1.0), unit="cosine", source="multi_similarity's"),
        "epsilon": Parameter(0.1, Interval(0.0, 2.0), unit="cosine", source="multi_similarity's"),
        "gamma": Parameter(
            0.1, Interval(0.0, 10.0), unit="cosine", source="own: none is published"
        ),
        "form": Parameter("cosine", OneOf(("cosine", "printed")), source="the name, not eq. 32"),
    }
    takes_references = True

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. A pair is active if the miner keeps it."""
        S_BR = cosines(batch)
        pairs = pair_masks(batch)
        is_printed = hyperparameters["form"] == "printed"
        kappa_BR = _directions(batch, S_BR, pairs, is_printed=is_printed)
        relief_BR = hyperparameters["gamma"] * kappa_BR
        return multi_similarity(S_BR, pairs, hyperparameters, relief_BR)


def _directions(batch: Batch, S_BR: Tensor, pairs: PairMasks, *, is_printed: bool) -> Tensor:
    """kappa_BR: cosine of every n - a to p - a, p the least similar positive of the anchor a.

    For unit vectors (n - a).(p - a) = S_pn - S_an - S_ap + 1.
    """
    if batch.references is None:
        partners_RD = batch.normalised_BD
    else:
        partners_RD = batch.references.normalised_RD
    hardest_B = S_BR.detach().masked_fill(~pairs.positive_BR, inf).argmin(1)
    S_pn_BR = partners_RD[hardest_B] @ partners_RD.T
    S_ap_B1 = S_BR.gather(1, hardest_B[:, None])
    D_BR, D_ap_B1 = distances(2.0 - 2.0 * S_BR), distances(2.0 - 2.0 * S_ap_B1)
    turned_BR = torch.zeros_like(S_BR) if is_printed else S_pn_BR - S_BR
    kappa_BR = (turned_BR - S_ap_B1 + 1.0) / (D_BR * D_ap_B1)
    return kappa_BR.where(torch.minimum(D_BR, D_ap_B1) > _SHORTEST, 0.0)
