"""Triplet loss between labels within a threshold and all others: a baseline of `dense_triplet`.

P = partners of the anchor: all but row 0.
"""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.losses._anchored import anchored, mean_hinge
from podium.trainables.settings.legal_ranges import Interval, Parameter


class ThresholdTriplet(Loss):
    """Images with labels within a threshold have to be nearer than all others, by a margin.

    With the anchor a = row 0 of the batch, rows with a label distance of at most ``threshold``
    from it count as positives p, the rest as negatives n; mean over all pairs of them of

        max(0, D2_ap - D2_an + margin)

    where D2 is the squared Euclidean distance of unit vectors. How near labels are beyond that is
    not looked at: this is the "binary thresholding" baseline of continuous labels.

    Source: the baseline that Kim et al. 2019 name so. Hinge, margin and mean are those of
    Naive_TripletLoss in their code, which counts satisfied triplets too; its positives are those
    of `neighbour_triplet`. Without a positive, without a negative or without an open hinge the
    value is 0 with gradient 0.

    Args:
        margin: squared distance; unit vectors are at most 4 apart.
        threshold: in the unit of the data set's label distances. The default is half of the
            largest 1 - IoU; other labels need another one.
    """

    kind = "continuous"
    source = "Kim et al. 2019, Deep Metric Learning Beyond Binary Supervision, and their code"
    needs = frozenset({"label_distances", "normalised"})
    declared = {
        "margin": Parameter(0.2, Interval(0.0, 4.0), unit="squared distance", source="code"),
        "threshold": Parameter(0.5, Interval(0.0, 1e9), unit="label distance", source="own"),
    }
    invariances = frozenset({"rotation", "scale"})  # the anchor is known by its position

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. A triplet is active where its hinge is open."""
        D2_P, label_distances_P = anchored(batch, batch.normalised_BD)
        is_positive_P = label_distances_P <= hyperparameters["threshold"]
        is_triplet_PP = is_positive_P[:, None] & ~is_positive_P
        return mean_hinge(D2_P, is_triplet_PP, hyperparameters["margin"])
