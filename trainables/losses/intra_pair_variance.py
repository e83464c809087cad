"""Intra-pair variance loss (Yu and Tao 2019): pairs on the wrong side of the mean of their kind.

S_BR = cosines, B = batch, R = references.
"""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._pairs import cosines, masked_mean
from podium.trainables.settings.legal_ranges import Interval, Parameter


class IntraPairVariance(Loss):
    """Positives less similar than theirs are on average, negatives more: a term beside another.

    mean over positives of [(1 - positive_slack) m_P - S]+^2
    + mean over negatives of [S - (1 + negative_slack) m_N]+^2,
    where m_P and m_N are the mean cosines of the batch's positives and negatives.

    Source: Yu and Tao 2019, who add it to `TupletMargin`, with a weight of 0.5 in the example of
    pytorch-metric-learning. The means are of the batch and have a gradient, as there, and they
    count satisfied pairs as well. But for the slack the value is the same wherever the means are,
    so the loss trains no network alone. Where a mean is negative its slack acts in the other
    direction. A side without pairs is 0 with gradient 0.

    Args:
        positive_slack: share of the mean by which a positive may be below it.
        negative_slack: share of the mean by which a negative may be above it.
    """

    kind = "pair"
    source = "Yu and Tao 2019, Deep Metric Learning with Tuplet Margin Loss"
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "positive_slack": Parameter(0.01, Interval(0.0, 1.0), source="paper"),
        "negative_slack": Parameter(0.01, Interval(0.0, 1.0), source="paper"),
    }
    takes_references = True

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. A pair is active where its hinge is open."""
        S_BR = cosines(batch)
        positive_BR, negative_BR = pair_masks(batch)
        least = (1.0 - hyperparameters["positive_slack"]) * masked_mean(S_BR, positive_BR)
        most = (1.0 + hyperparameters["negative_slack"]) * masked_mean(S_BR, negative_BR)
        below_BR, above_BR = (least - S_BR).relu(), (S_BR - most).relu()
        value = masked_mean(below_BR.square(), positive_BR)
        value = value + masked_mean(above_BR.square(), negative_BR)
        active_BR = (positive_BR & (below_BR > 0.0)) | (negative_BR & (above_BR > 0.0))
        num_pairs = positive_BR.sum() + negative_BR.sum()
        return LossOutput(value, active_BR.sum() / num_pairs.clamp(min=1))
