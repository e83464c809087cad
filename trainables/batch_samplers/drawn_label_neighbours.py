"""Batches of an anchor, some of its many neighbours by label, and images that are none of them."""

from podium.trainables.batch_samplers._nearest_by_label import AnchoredByLabel


class DrawnLabelNeighbours(AnchoredByLabel):
    """An anchor, then five drawn from the 30 images nearest to it by label, then random others.

    The others are drawn from all images that are not among the 30, so that the loss
    `neighbour_triplet` finds the five as its positives.

    Source: Naive_PairDataset of the code of Kim et al. 2019, Deep Metric Learning Beyond Binary
    Supervision, the batches of their baseline. Their epoch makes every image an anchor once.
    """

    num_neighbours = 30
    num_near = 5
    smallest_batch = 1 + num_near + 1
