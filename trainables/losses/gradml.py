"""GradML loss: differences of distances over quadruplets of two classes, without a margin.

S_BB = cosines, D_BB = distances, B = batch.
"""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.loss_composition.miner_base import pair_masks
from podium.trainables.losses._pairs import cosines, distances
from podium.trainables.settings.legal_ranges import Interval, Parameter


class GradML(Loss):
    """Two images of one class against two of another, as a plain difference of distances.

    mean over quadruplets {x, x'} of one class and {y, y'} of another of
    |x - x'|^k + |y - y'|^k - w (|x - y|^k + |x - y'|^k + |x' - y|^k + |x' - y'|^k)

    Source: GradML, equation 11. At k = 2 its gradient by x is 2 ((1 - 2w) x - x' + w (y + y'));
    table 1 there prints another. Distances are between unit vectors, since without a bound on the
    lengths the value has no minimum. A pair occurs in many quadruplets, so they are counted
    instead of visited. All are active; without two classes of two images the value is 0.

    The mean takes every distance in every role, so weights of their own for the six distances,
    a1 and a2 within the classes and a3 to a6 between them, would give no other loss: it is
    (a1 + a2) / 2 times this one at w = -(a3 + a4 + a5 + a6) / (2 (a1 + a2)).

    On balanced batches gradml(k = 2, w) = 4 csml(2 w) + 4 - 8 w. So at k = 2 classes are apart by
    their mean cosine alone: spread evenly, or on two opposite points, they have the same value.
    Above 2 distances 0 and 2 have a larger mean power than equal ones, and the two points win.

    Args:
        k: power of the distances.
        w: weight of the distances between classes.
    """

    kind = "tuple"
    source = "GradML, equation 11"
    needs = frozenset({"balanced", "normalised"})
    declared = {
        "k": Parameter(2.0, Interval(1.0, 8.0), source="paper"),
        "w": Parameter(1.0, Interval(0.0, 100.0), source="paper"),
    }

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. Whole numbers count, so that no quadruplet is lost to rounding."""
        D_BB = distances(2.0 - 2.0 * cosines(batch))
        powers_BB = D_BB.pow(hyperparameters["k"])
        positive_BB, negative_BB = pair_masks(batch)

        # Of each sample's class: the other samples, and the pairs.
        others_B = positive_BB.sum(1)
        pairs_B = others_B * (others_B + 1) // 2
        num_pairs = others_B.sum() // 2
        num_quadruplets = (num_pairs.square() - (others_B * pairs_B).sum() // 2) // 2

        # A positive pair meets every pair of the other classes, and so does a negative pair each
        # choice of a second sample on both sides. Rows and columns hold every pair twice.
        within_B = powers_BB.where(positive_BB, 0.0).sum(1) * (num_pairs - pairs_B)
        between_B = (powers_BB * others_B).where(negative_BB, 0.0).sum(1) * others_B
        total = 0.5 * (within_B - hyperparameters["w"] * between_B).sum()
        return LossOutput(
            total / num_quadruplets.clamp(min=1), (num_quadruplets > 0).to(total.dtype)
        )
