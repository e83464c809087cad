"""Triplet loss between the nearest by label and all others: a baseline of `dense_triplet`.

P = partners of the anchor: all but row 0.
"""

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, Loss, LossOutput, Tensors
from podium.trainables.losses._anchored import anchored, mean_hinge
from podium.trainables.settings.legal_ranges import Interval, Parameter, Whole


class NeighbourTriplet(Loss):
    """The nearest by label have to be nearer in the embedding space than all others, by a margin.

    With the anchor a = row 0 of the batch, the ``neighbours`` other rows nearest to it by label
    count as positives p, the rest as negatives n; mean over all pairs of them of

        max(0, D2_ap - D2_an + margin)

    where D2 is the squared Euclidean distance of unit vectors. How near labels are beyond that is
    not looked at: this is the "nearest neighbour" baseline of continuous labels.

    Source: naive_train and Naive_TripletLoss of the code of Kim et al. 2019, with its batches by
    the sampler `drawn_label_neighbours`; as there the mean counts satisfied triplets too. Partners
    as far by label as the last neighbour count as positives as well. With no more partners than
    ``neighbours`` there is no negative and the value is 0 with gradient 0, as it is without an
    open hinge.

    Args:
        margin: squared distance; unit vectors are at most 4 apart.
        neighbours: how many partners are positives.
    """

    kind = "continuous"
    source = "code of Kim et al. 2019, Deep Metric Learning Beyond Binary Supervision"
    needs = frozenset({"label_distances", "normalised"})
    declared = {
        "margin": Parameter(0.2, Interval(0.0, 4.0), unit="squared distance", source="code"),
        "neighbours": Parameter(5, Whole(1, 10_000), source="code: num_pos_max"),
    }
    invariances = frozenset({"rotation", "scale"})  # the anchor is known by its position

    @staticmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """See `Loss.compute`. A triplet is active where its hinge is open."""
        D2_P, label_distances_P = anchored(batch, batch.normalised_BD)
        nearest = label_distances_P.sort().values[: hyperparameters["neighbours"]]
        is_positive_P = label_distances_P <= nearest[-1:]  # which is empty without partners
        is_triplet_PP = is_positive_P[:, None] & ~is_positive_P
        return mean_hinge(D2_P, is_triplet_PP, hyperparameters["margin"])
