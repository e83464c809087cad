"""Losses on continuous labels: one anchor, row 0 of the batch, against the P others.

B = batch, P = partners = B - 1, D = embedding dimension.
"""

from typing import NamedTuple

from torch import Tensor

from trainables.loss_composition.batch import Batch


class Anchored(NamedTuple):
    """How far the partners are from the anchor.

    Attributes:
        squared_P: squared Euclidean distances of the embeddings. Summed over differences, so that
            partners close to the anchor keep their digits.
        label_distances_P: distances of the labels.
    """

    squared_P: Tensor
    label_distances_P: Tensor


def anchored(batch: Batch, embeddings_BD: Tensor) -> Anchored:
    """Row 0 against all others, by ``embeddings_BD``: the batch's raw or normalised ones."""
    assert batch.label_distances_BB is not None, "a loss that needs label_distances gets them"
    return Anchored(
        squared_P=(embeddings_BD[1:] - embeddings_BD[0]).square().sum(1),
        label_distances_P=batch.label_distances_BB[0, 1:],
    )
