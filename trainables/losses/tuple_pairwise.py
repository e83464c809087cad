"""Loss of Berlemont et al. 2017: a positive and one negative per class, target products 1 and 0.

dot_BB = products of embeddings, B = batch.
"""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._pairs import dot_products, masked_mean
from podium.trainables.settings.legal_ranges import Interval, Parameter


class TuplePairwise(Loss):
    """A tuple is a reference R, a positive +, and one negative k of each other class.

    (1 - o_R . o_+)^2 + sum over k of (o_R . o_k)^2 + norm_weight * sum over the tuple of
    (1 - |o|)^2, with embeddings o as the network gave them; mean over tuples, then over
    references.

    The cost adds up over members, so the mean over all tuples of a reference is exact without
    forming any: the mean over its positives, plus for each other class the mean over its samples.
    The other classes are those in the batch; a tuple of a batch of one class has no negative.

    Source: Berlemont et al. 2017; Duffner et al. 2021. A sample alone in its class is a negative
    only. Without references the loss is 0 with gradient 0; every tuple is active.

    Args:
        norm_weight: weight of the pull to length 1.
    """

    kind = "tuple"
    source = "Berlemont et al. 2017, Class-Balanced Siamese Neural Networks"
    needs = frozenset({"balanced"})
    declared = {
        "norm_weight": Parameter(
            1.0, Interval(0.0, 1e3), source="paper, whose formula has no weight"
        )
    }
    invariances = frozenset({"permutation", "rotation"})

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`."""
        dot_BB = dot_products(batch)
        positive_BB, negative_BB = pair_masks(batch)
        num_positives_B = positive_BB.sum(1)
        is_reference_B = num_positives_B > 0
        positive_share_B1 = (1.0 / num_positives_B.clamp(min=1).to(dot_BB.dtype))[:, None]
        class_share_B = 1.0 / (num_positives_B + 1).to(dot_BB.dtype)

        # A zero embedding has length 0 and no direction to grow in: gradient 0.
        norm_cost_B = hyperparameters["norm_weight"] * (1.0 - batch.embeddings_BD.norm(dim=1)) ** 2
        as_positive_BB = ((1.0 - dot_BB).square() + norm_cost_B).where(positive_BB, 0.0)
        as_negative_BB = (dot_BB.square() + norm_cost_B).where(negative_BB, 0.0)
        members_BB = positive_share_B1 * as_positive_BB + class_share_B * as_negative_BB
        value = masked_mean(norm_cost_B + members_BB.sum(1), is_reference_B)
        return LossOutput(value, is_reference_B.any().to(value.dtype))
