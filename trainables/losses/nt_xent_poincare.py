"""Hyp-ViT's pairwise cross-entropy (Ermolov et al. 2022): `nt_xent` on Poincare distances.

d_BR = distances, B = batch, R = references.
"""

from podium.trainables.geometry import ball_points, in_ball
from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._pairs import distances, squared_distances
from podium.trainables.losses._tuplets import against_all_negatives
from podium.trainables.settings.legal_ranges import Interval, Parameter


class NTXentPoincare(Loss):
    """Cross-entropy of a positive among it and all negatives, by hyperbolic distance.

    mean over pairs (i, j) of one class of
    -log(exp(-d_ij / t) / (exp(-d_ij / t) + sum_{k in N(i)} exp(-d_ik / t)))

    d is the distance in the Poincare ball of curvature -0.1 of the images of both embeddings, cut
    to the length 2.3, under the exponential map at 0 (`trainables.geometry`). Images are retrieved
    by d too.

    Source: Ermolov et al. 2022, whose batches have two samples a class: then it is half the
    authors' sum of both directions. Their network ends with the ball's points, podium's with the
    embeddings that are mapped to them. Anchors without positives or without negatives are left
    out. Points nearer than 1e-6 count as that, with gradient 0.

    Args:
        temperature: distance that changes a probability by the factor e (t above).
    """

    kind = "tuple"
    source = "Ermolov et al. 2022, Hyperbolic Vision Transformers"
    needs = frozenset({"balanced", "poincare"})
    declared = {
        "temperature": Parameter(0.2, Interval(1e-3, 1e3), unit="distance", source="paper")
    }
    invariances = frozenset({"permutation", "rotation"})
    takes_references = True

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. A pair is active if its anchor has negatives."""
        p_BD, p_rests_B1 = q_RD, q_rests_R1 = ball_points(batch.embeddings_BD)
        if batch.references is not None:
            q_RD, q_rests_R1 = ball_points(batch.references.embeddings_RD)
        d_BR = in_ball(distances(squared_distances(p_BD, q_RD)), p_rests_B1, q_rests_R1.T)
        logits_BR = -d_BR / hyperparameters["temperature"]
        return against_all_negatives(logits_BR, logits_BR, pair_masks(batch))
