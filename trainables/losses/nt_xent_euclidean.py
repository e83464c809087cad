"""`nt_xent` on Euclidean distances of embeddings of any length; beside `nt_xent_poincare`.

d_BR = distances, B = batch, R = references.
"""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._pairs import distances, squared_distances
from podium.trainables.losses._tuplets import against_all_negatives
from podium.trainables.settings.legal_ranges import Interval, Parameter


class NTXentEuclidean(Loss):
    """Cross-entropy of a positive among it and all negatives, by Euclidean distance.

    mean over pairs (i, j) of one class of
    -log(exp(-d_ij / t) / (exp(-d_ij / t) + sum_{k in N(i)} exp(-d_ik / t))), d_ij = |x_i - x_j|

    Source: `nt_xent_poincare`, whose distance is 2 d without curvature and cut. Images are
    retrieved by d too. Anchors without positives or without negatives are left out. A distance
    below 1e-6 counts as that, with gradient 0.

    Args:
        temperature: distance that changes a probability by the factor e (t above).
    """

    kind = "tuple"
    source = "own: the limit of Ermolov et al. 2022 without curvature"
    needs = frozenset({"balanced", "euclidean"})
    declared = {"temperature": Parameter(0.2, Interval(1e-3, 1e3), unit="distance", source="own")}
    invariances = frozenset({"permutation", "rotation"})
    takes_references = True

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. A pair is active if its anchor has negatives."""
        x_BD = y_RD = batch.embeddings_BD
        if batch.references is not None:
            y_RD = batch.references.embeddings_RD
        d_BR = distances(squared_distances(x_BD, y_RD))
        logits_BR = -d_BR / hyperparameters["temperature"]
        return against_all_negatives(logits_BR, logits_BR, pair_masks(batch))
