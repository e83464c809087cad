"""Threshold-consistent margin (Zhang et al. 2024): a term that sets one scale for all classes.

S_BR = cosines, B = batch, R = references.
"""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._pairs import cosines, masked_mean
from podium.trainables.settings.legal_ranges import Interval, Parameter


class ThresholdConsistentMargin(Loss):
    """Hinges on the cosines of hard pairs, with the same two thresholds for all classes.

    mean over positives with S <= positive_margin of (positive_margin - S)
    + negative_weight * mean over negatives with S >= negative_margin of (S - negative_margin).

    Source: Zhang et al. 2024. A term beside another loss, as in
    ``proxy_anchor+threshold_consistent_margin``; the weight of the term is the paper's weight of
    positives. With a negative_margin of 0.6 it is the calibration of ROADMAP (Ramzi et al. 2021),
    which is ``sup_ap+threshold_consistent_margin``. A side without hard pairs
    is 0 with gradient 0.

    Args:
        positive_margin: cosine below which a positive is pulled.
        negative_margin: cosine above which a negative is pushed away.
        negative_weight: weight of the negatives' mean.
    """

    kind = "pair"
    source = (
        "Zhang et al. 2024, Threshold-Consistent Margin Loss for Open-World Deep Metric Learning"
    )
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "positive_margin": Parameter(0.9, Interval(-1.0, 1.0), unit="cosine", source="paper"),
        "negative_margin": Parameter(0.5, Interval(-1.0, 1.0), unit="cosine", source="paper"),
        "negative_weight": Parameter(1.0, Interval(0.0, 1e3), source="paper"),
    }
    takes_references = True

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. A pair is active where its hinge is open."""
        S_BR = cosines(batch)
        positive_BR, negative_BR = pair_masks(batch)
        below_BR = hyperparameters["positive_margin"] - S_BR
        above_BR = S_BR - hyperparameters["negative_margin"]
        pulled_BR, pushed_BR = positive_BR & (below_BR > 0.0), negative_BR & (above_BR > 0.0)
        pull, push = masked_mean(below_BR, pulled_BR), masked_mean(above_BR, pushed_BR)
        num_pairs = positive_BR.sum() + negative_BR.sum()
        num_active = pulled_BR.sum() + pushed_BR.sum()
        value = pull + hyperparameters["negative_weight"] * push
        return LossOutput(value, num_active / num_pairs.clamp(min=1))
