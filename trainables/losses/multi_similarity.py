"""Multi-similarity loss (Wang et al. 2019): log-sum-exp over the mined pairs of each anchor."""

from collections.abc import Mapping

from torch import Tensor

from trainables.loss_composition.batch import Batch
from trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput
from trainables.loss_composition.miner_base import pair_masks
from trainables.losses._multi_similarity import multi_similarity
from trainables.losses._pairs import cosines
from trainables.settings.legal_ranges import Interval

__all__ = ["MultiSimilarity"]


class MultiSimilarity(Loss):
    """Soft weighting of the hard pairs of each anchor, positives and negatives apart.

    mean over anchors of log(1 + sum_P exp(-alpha (S - margin))) / alpha
    + log(1 + sum_N exp(beta (S - margin))) / beta, over pairs kept by `MultiSimilarityMiner`.

    Source: Wang et al. 2019, equation 15; Psomas 2020, equation 2.24. The mean runs over all
    anchors of the batch; one without a kept pair adds 0 with gradient 0. The default of the margin
    is that of the thesis and of the authors' code; the paper has 1.

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
        return multi_similarity(cosines(batch), pair_masks(batch), hyperparameters)
