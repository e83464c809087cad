"""Ranked list loss (Wang et al. 2019): classes as balls, with all other classes a margin away.

D_BR = distances of unit vectors, B = batch, R = references.
"""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._pairs import cosines, distances
from podium.trainables.settings.legal_ranges import Interval, Parameter


class RankedList(Loss):
    """Pulls positives into a ball of radius radius - margin, pushes negatives out of radius.

    mean over anchors of (1 - imbalance) * mean over positives with D > radius - margin of
    (D - radius + margin) + imbalance * weighted mean over negatives with D < radius of
    (radius - D), with weights exp(sharpness (radius - D)).

    Source: Wang et al. 2019, with Euclidean distances of unit vectors; RLL-Simpler, whose
    positives weigh equally. The weights pass no gradient on, which is how the paper's gradient is
    read here; in pytorch-metric-learning they do, and 1e-5 is added to each. The mean runs over
    all anchors of the batch; a side without such pairs adds 0 with gradient 0.

    Args:
        radius: distance within which negatives are pushed (alpha in the paper).
        margin: width of the empty shell around a ball.
        imbalance: weight of negatives, 0 to 1 (lambda in the paper).
        sharpness: how much nearer negatives weigh more (temperature T in the paper).
    """

    kind = "tuple"
    source = "Wang et al. 2019, Ranked List Loss for Deep Metric Learning"
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "radius": Parameter(1.2, Interval(0.0, 2.0), unit="distance", source="paper"),
        "margin": Parameter(0.4, Interval(0.0, 2.0), unit="distance", source="paper"),
        "imbalance": Parameter(0.5, Interval(0.0, 1.0), source="paper"),
        "sharpness": Parameter(10.0, Interval(0.0, 100.0), unit="1/distance", source="paper"),
    }
    takes_references = True

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. A pair is active where its hinge is open."""
        radius, imbalance = hyperparameters["radius"], hyperparameters["imbalance"]
        D_BR = distances(2.0 - 2.0 * cosines(batch))
        positive_BR, negative_BR = pair_masks(batch)
        beyond_BR = D_BR - (radius - hyperparameters["margin"])
        within_BR = radius - D_BR
        pulled_BR, pushed_BR = positive_BR & (beyond_BR > 0.0), negative_BR & (within_BR > 0.0)
        pull_B = beyond_BR.where(pulled_BR, 0.0).sum(1) / pulled_BR.sum(1).clamp(min=1)
        exponents_BR = hyperparameters["sharpness"] * within_BR.detach()
        top_B1 = exponents_BR.where(pushed_BR, 0.0).amax(1, keepdim=True)
        weights_BR = (exponents_BR - top_B1).clamp(max=0.0).exp().where(pushed_BR, 0.0)
        total_B = weights_BR.sum(1)
        push_B = (weights_BR * within_BR).sum(1) / total_B.where(total_B > 0.0, 1.0)
        value = ((1.0 - imbalance) * pull_B + imbalance * push_B).mean()
        num_pairs = positive_BR.sum() + negative_BR.sum()
        return LossOutput(value, (pulled_BR | pushed_BR).sum() / num_pairs.clamp(min=1))
