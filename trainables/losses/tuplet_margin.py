"""Tuplet margin loss (Yu and Tao 2019): a positive, given an angle, against all negatives.

S_BR = cosines, B = batch, R = references.
"""

import math

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._pairs import angles, cosines
from podium.trainables.losses._tuplets import against_all_negatives
from podium.trainables.settings.legal_ranges import Interval, Parameter


class TupletMargin(Loss):
    """Every positive of an anchor against all its negatives, with slack on the positive's angle.

    mean over pairs (i, j) of one class of
    log(1 + sum_{k in N(i)} exp(scale (S_ik - cos(angle_ij - margin)))), S_ij = cos(angle_ij).

    Source: Yu and Tao 2019. The margin is taken off the angle, so that the positives of a tuplet
    need not come all the way: one nearer than the margin is let out to it again. With no margin
    this is N-pair on cosines times a scale. Here every positive takes its turn. The paper adds
    `IntraPairVariance`: the sum ``tuplet_margin+intra_pair_variance``, with the weight of its
    second term at 0.5. Where S_ij is within 1e-7 of 1 the positive has no gradient.

    Anchors without positives or without negatives are left out.

    Args:
        margin_degrees: slack of the angle (beta in the paper), in degrees.
        scale: factor of the cosines (s in the paper).
    """

    kind = "tuple"
    source = "Yu and Tao 2019, Deep Metric Learning with Tuplet Margin Loss"
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "margin_degrees": Parameter(
            5.73, Interval(0.0, 90.0), unit="degrees", source="paper: 0.1 rad"
        ),
        "scale": Parameter(64.0, Interval(1e-3, 1e3), unit="1/cosine", source="paper"),
    }
    takes_references = True

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. A pair is active if its anchor has negatives."""
        S_BR = cosines(batch)
        margin, scale = hyperparameters["margin_degrees"], hyperparameters["scale"]
        relieved_BR = (angles(S_BR) - margin * (math.pi / 180.0)).cos()
        return against_all_negatives(scale * relieved_BR, scale * S_BR, pair_masks(batch))
