"""N-pair loss (Sohn 2016): each positive against all negatives, by dot products.

P_BR = dot products, B = batch, R = references.
"""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._pairs import dot_products
from podium.trainables.losses._tuplets import against_all_negatives, mean_length
from podium.trainables.settings.legal_ranges import Interval, Parameter


class NPair(Loss):
    """Every positive of an anchor against all its negatives, on embeddings of any length.

    mean over pairs (i, j) of one class of log(1 + sum_{k in N(i)} exp(x_i.x_k - x_i.x_j))
    + norm_weight * mean over the anchors of these pairs of |x_i|.

    Source: Sohn 2016, equation 8; Psomas 2020, equation 2.22, which leaves open which positive j
    an anchor i has. There a batch holds two images of each class and j is the other one; here
    every positive takes its turn, which is the same with two images a class and uses all of a
    batch with more. Sohn's negatives are the partners of the other anchors only, half of those
    in the thesis and here: with one image of each class as the batch and its partners as
    references, this is Sohn's equation.

    The lengths are free: between unit vectors an exponent is at least -2, too little to outweigh
    many negatives. Their weighted norm holds them; Sohn squares it, the library of the thesis does
    not.

    Anchors without positives or without negatives are left out of both means.

    Args:
        norm_weight: weight of the mean norm.
    """

    kind = "tuple"
    source = "Sohn 2016, Improved Deep Metric Learning with Multi-class N-pair Loss Objective"
    needs = frozenset({"balanced"})
    declared = {
        "norm_weight": Parameter(
            0.02, Interval(0.0, 100.0), unit="1/length", source="thesis table 4: l2"
        )
    }
    invariances = frozenset({"permutation", "rotation"})
    takes_references = True

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. A pair is active if its anchor has negatives."""
        P_BR = dot_products(batch)
        pairs = pair_masks(batch)
        output = against_all_negatives(P_BR, P_BR, pairs)
        penalty = hyperparameters["norm_weight"] * mean_length(batch, pairs)
        return output._replace(value=output.value + penalty)
