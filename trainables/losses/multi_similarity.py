"""Multi-similarity loss. S_BR = cosines, B = batch, R = references."""

from collections.abc import Mapping

from torch import Tensor

from trainables.batch import Batch
from trainables.losses._base import Hyperparameters, Loss, LossOutput
from trainables.losses._pairs import cosines, log1p_sum_exp
from trainables.miners._base import pair_masks
from trainables.miners.multi_similarity import MultiSimilarityMiner
from trainables.ranges import Interval

__all__ = ["MultiSimilarity"]


class MultiSimilarity(Loss):
    """Soft weighting of the hard pairs of each anchor, positives and negatives apart.

    mean over anchors of log(1 + sum_P exp(-alpha (S - margin))) / alpha
    + log(1 + sum_N exp(beta (S - margin))) / beta, over pairs kept by `MultiSimilarityMiner`.

    Source: Wang et al. 2019, equation 15; Psomas 2020, equation 2.24. The mean runs over all
    anchors of the batch; one without a kept pair adds 0 with gradient 0.

    Args:
        alpha: sharpness on positives, in [0.001, 1000].
        beta: sharpness on negatives, in [0.001, 1000].
        margin: cosine at which a pair weighs 1 (lambda in the paper), in [-1, 1].
        epsilon: slack of the miner (cosine), in [0, 2]; at 2 every pair of an anchor is kept.
    """

    needs = frozenset({"balanced", "normalised"})
    legal = {
        "alpha": Interval(1e-3, 1e3),
        "beta": Interval(1e-3, 1e3),
        "margin": Interval(-1.0, 1.0),
        "epsilon": Interval(0.0, 2.0),
    }
    invariances = frozenset({"permutation", "rotation", "scale"})
    is_vmappable = True
    takes_references = True

    def __init__(
        self,
        *,
        alpha: float = 2.0,
        beta: float = 50.0,
        margin: float = 0.5,
        epsilon: float = 0.1,
    ) -> None:
        super().__init__(alpha=alpha, beta=beta, margin=margin, epsilon=epsilon)

    @staticmethod
    def compute(
        batch: Batch, parameters: Mapping[str, Tensor], hyperparameters: Hyperparameters
    ) -> LossOutput:
        """See `Loss.compute`. A pair is active if the miner keeps it."""
        alpha, beta = hyperparameters["alpha"], hyperparameters["beta"]
        S_BR = cosines(batch)
        pairs = pair_masks(batch)
        kept = MultiSimilarityMiner.mine(S_BR, pairs, hyperparameters)
        above_BR = S_BR - hyperparameters["margin"]
        positive_B = log1p_sum_exp(-alpha * above_BR, kept.positive_BR, dim=1) / alpha
        negative_B = log1p_sum_exp(beta * above_BR, kept.negative_BR, dim=1) / beta
        num_pairs = pairs.positive_BR.sum() + pairs.negative_BR.sum()
        num_kept = kept.positive_BR.sum() + kept.negative_BR.sum()
        return LossOutput((positive_B + negative_B).mean(), num_kept / num_pairs.clamp(min=1))
