"""Dense triplet loss (Kim et al. 2019): triplets ordered by distance of labels, not by class.

P = partners of the anchor: all but row 0.
"""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.losses._anchored import anchored, mean_hinge
from podium.trainables.settings.legal_ranges import Interval, Parameter


class DenseTriplet(Loss):
    """What is nearer by its label has to be nearer in the embedding space, by a margin.

    With the anchor a = row 0 of the batch, mean over pairs (i, j) of the other rows with
    y_ai < y_aj of

        max(0, D2_ai - D2_aj + margin)

    where y is the distance of the labels and D2 the squared Euclidean distance of unit vectors.

    Source: the triplet baseline of Kim et al. 2019, equation 1 with their dense triplet mining; as
    in their released code the mean counts satisfied triplets too. That code orders a tie of labels
    by index; here it is no pair. Without an open hinge the value is 0 with gradient 0.

    Args:
        margin: squared distance; unit vectors are at most 4 apart.
    """

    kind = "continuous"
    source = "Kim et al. 2019, Deep Metric Learning Beyond Binary Supervision, equation 1"
    needs = frozenset({"label_distances", "normalised"})
    declared = {
        "margin": Parameter(0.03, Interval(0.0, 4.0), unit="squared distance", source="paper")
    }
    invariances = frozenset({"rotation", "scale"})  # the anchor is known by its position

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. A triplet is active where its hinge is open."""
        D2_P, label_distances_P = anchored(batch, batch.normalised_BD)
        is_triplet_PP = label_distances_P[:, None] < label_distances_P
        return mean_hinge(D2_P, is_triplet_PP, hyperparameters["margin"])
