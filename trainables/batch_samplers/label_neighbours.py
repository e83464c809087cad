"""Batches around an anchor, for losses on continuous labels."""

from podium.trainables.batch_samplers._nearest_by_label import AnchoredByLabel


class LabelNeighbours(AnchoredByLabel):
    """An anchor, then the five images nearest to it by label, nearest first, then random others.

    With fewer images than ``batch_size`` all of them are in every batch.

    Source: Kim et al. 2019, Deep Metric Learning Beyond Binary Supervision, section 3.3 (dense
    triplet mining). Their epoch makes every image an anchor once.
    """

    num_neighbours = 5
    num_near = 5
    smallest_batch = 1 + num_near + 1
