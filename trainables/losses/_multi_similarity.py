"""What losses with multi-similarity mining share. S_BR = cosines, B = batch, R = references."""

from math import inf

from torch import Tensor

from podium.trainables.loss_composition.loss_base import Hyperparameters, LossOutput
from podium.trainables.loss_composition.miner_base import PairMasks
from podium.trainables.losses._pairs import log1p_sum_exp


def mine_pairs(S_BR: Tensor, pairs: PairMasks, epsilon: float | Tensor) -> PairMasks:
    """Pairs that violate, within ``epsilon`` (cosine), the order of an anchor's similarities.

    A negative n is kept where S_an + epsilon > min over positives of S_ap; a positive p where
    S_ap - epsilon < max over negatives of S_an (Wang et al. 2019, equations 12 and 13). An anchor
    without positives or without negatives keeps nothing. No gradient flows through the choice.
    """
    S_BR = S_BR.detach()
    hardest_positive_B1 = S_BR.masked_fill(~pairs.positive_BR, inf).amin(1, keepdim=True)
    hardest_negative_B1 = S_BR.masked_fill(~pairs.negative_BR, -inf).amax(1, keepdim=True)
    return PairMasks(
        pairs.positive_BR & (S_BR - epsilon < hardest_negative_B1),
        pairs.negative_BR & (S_BR + epsilon > hardest_positive_B1),
    )


def kept_fraction(kept: PairMasks, pairs: PairMasks) -> Tensor:
    """The part of the pairs that is kept; 0 without pairs."""
    num_pairs = pairs.positive_BR.sum() + pairs.negative_BR.sum()
    num_kept = kept.positive_BR.sum() + kept.negative_BR.sum()
    return num_kept / num_pairs.clamp(min=1)


def multi_similarity(
    S_BR: Tensor,
    pairs: PairMasks,
    hyperparameters: Hyperparameters,
    relief_BR: Tensor | None = None,
) -> LossOutput:
    """Soft weighting of the mined pairs of each anchor, as in `MultiSimilarity`.

    Args:
        S_BR: cosines.
        pairs: masks of all pairs of the batch.
        hyperparameters: ``alpha``, ``beta``, ``margin`` and ``epsilon`` of `mine_pairs`.
        relief_BR: taken off the cosine of a negative in its exponent; the mining does not see it.
    """
    alpha, beta = hyperparameters["alpha"], hyperparameters["beta"]
    kept = mine_pairs(S_BR, pairs, hyperparameters["epsilon"])
    above_BR = S_BR - hyperparameters["margin"]
    positive_B = log1p_sum_exp(-alpha * above_BR, kept.positive_BR, dim=1) / alpha
    if relief_BR is not None:
        above_BR = above_BR - relief_BR
    negative_B = log1p_sum_exp(beta * above_BR, kept.negative_BR, dim=1) / beta
    return LossOutput((positive_B + negative_B).mean(), kept_fraction(kept, pairs))
