"""Multi-similarity loss (Wang et al. 2019): log-sum-exp over the mined pairs of each anchor."""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._multi_similarity import multi_similarity
from podium.trainables.losses._pairs import cosines
from podium.trainables.settings.legal_ranges import Interval, Parameter


class MultiSimilarity(Loss):
    """Soft weighting of the hard pairs of each anchor, positives and negatives apart.

    mean over anchors of log(1 + sum_P exp(-alpha (S - margin))) / alpha
    + log(1 + sum_N exp(beta (S - margin))) / beta, over the pairs `mine_pairs` keeps.

    Source: Wang et al. 2019, equation 15; Psomas 2020, equation 2.24. The mean runs over all
    anchors of the batch; one without a kept pair adds 0 with gradient 0. The default of the margin
    is that of the thesis and of the authors' code; the paper has 1.

    Args:
        alpha: sharpness on positives.
        beta: sharpness on negatives.
        margin: cosine at which a pair weighs 1 (lambda in the paper).
        epsilon: slack of the miner (cosine); at 2 every pair of an anchor is kept.
    """

    kind = "pair"
    source = "Wang et al. 2019, Multi-Similarity Loss, equation 15 with the mining of 12 and 13"
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "alpha": Parameter(2.0, Interval(1e-3, 1e3), unit="1/cosine", source="paper"),
        "beta": Parameter(50.0, Interval(1e-3, 1e3), unit="1/cosine", source="paper"),
        "margin": Parameter(
            0.5,
            Interval(-1.0, 1.0),
            unit="cosine",
            source="thesis table 4, authors' code (paper: 1)",
        ),
        "epsilon": Parameter(0.1, Interval(0.0, 2.0), unit="cosine", source="paper"),
    }
    takes_references = True

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. A pair is active if the miner keeps it."""
        return multi_similarity(cosines(batch), pair_masks(batch), hyperparameters)
