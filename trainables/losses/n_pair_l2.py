"""N-pair loss on squared distances; `n_pair` is on dot products.

D2_BR = squared distances, B = batch, R = references.
"""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._pairs import squared_distances
from podium.trainables.losses._tuplets import against_all_negatives, mean_length
from podium.trainables.settings.legal_ranges import Interval, Parameter


class NPairL2(Loss):
    """Every positive of an anchor against all its negatives, on embeddings of any length.

    mean over pairs (i, j) of one class of log(1 + sum_{k in N(i)} exp(D2_ij - D2_ik))
    + norm_weight * mean over the anchors of these pairs of |x_i|,
    where D2 is the squared distance of the embeddings.

    Source: Sohn 2016, equation 8, with distances in place of products. A distance also compares
    lengths: D2_ij - D2_ik = 2 (x_i.x_k - x_i.x_j) + |x_j|^2 - |x_k|^2, which on embeddings of one
    length is `NPair` with exponents twice as large. Pairs, negatives and the penalty of the
    lengths are those of `NPair`.

    Anchors without positives or without negatives are left out of both means.

    Args:
        norm_weight: weight of the mean norm.
    """

    kind = "tuple"
    source = (
        "Sohn 2016, Improved Deep Metric Learning with Multi-class N-pair Loss Objective,"
        " with distances in place of products"
    )
    needs = frozenset({"balanced"})
    declared = {
        "norm_weight": Parameter(0.02, Interval(0.0, 100.0), unit="1/length", source="n_pair's")
    }
    invariances = frozenset({"permutation", "rotation"})
    takes_references = True

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. A pair is active if its anchor has negatives."""
        x_BD, references = batch.embeddings_BD, batch.references
        partners_RD = x_BD if references is None else references.embeddings_RD
        nearness_BR = -squared_distances(x_BD, partners_RD)
        pairs = pair_masks(batch)
        output = against_all_negatives(nearness_BR, nearness_BR, pairs)
        penalty = hyperparameters["norm_weight"] * mean_length(batch, pairs)
        return output._replace(value=output.value + penalty)
