"""What the multi-similarity losses share. S_BR = cosines, B = batch, R = references."""

from torch import Tensor

from trainables.loss_composition.loss_base import Hyperparameters, LossOutput
from trainables.loss_composition.miner_base import PairMasks
from trainables.losses._pairs import log1p_sum_exp
from trainables.miners.multi_similarity import MultiSimilarityMiner

__all__ = ["multi_similarity"]


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
        hyperparameters: ``alpha``, ``beta``, ``margin`` and the miner's ``epsilon``.
        relief_BR: taken off the cosine of a negative in its exponent; the miner does not see it.
    """
    alpha, beta = hyperparameters["alpha"], hyperparameters["beta"]
    kept = MultiSimilarityMiner.mine(S_BR, pairs, hyperparameters)
    above_BR = S_BR - hyperparameters["margin"]
    positive_B = log1p_sum_exp(-alpha * above_BR, kept.positive_BR, dim=1) / alpha
    if relief_BR is not None:
        above_BR = above_BR - relief_BR
    negative_B = log1p_sum_exp(beta * above_BR, kept.negative_BR, dim=1) / beta
    num_pairs = pairs.positive_BR.sum() + pairs.negative_BR.sum()
    num_kept = kept.positive_BR.sum() + kept.negative_BR.sum()
    return LossOutput((positive_B + negative_B).mean(), num_kept / num_pairs.clamp(min=1))
