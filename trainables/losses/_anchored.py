"""Losses on continuous labels: one anchor, row 0 of the batch, against the P others.

B = batch, P = partners = B - 1, D = embedding dimension.
"""

from torch import Tensor

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import LossOutput


def anchored(batch: Batch, embeddings_BD: Tensor) -> tuple[Tensor, Tensor]:
    """Squared Euclidean distances of the partners from the anchor, and distances of the labels.

    The former are of ``embeddings_BD``, the batch's raw or normalised ones, and summed over
    differences, so that partners close to the anchor keep their digits. Both have shape (P,).
    """
    assert batch.label_distances_BB is not None, "a loss that needs label_distances gets them"
    squared_P = (embeddings_BD[1:] - embeddings_BD[0]).square().sum(1)
    return squared_P, batch.label_distances_BB[0, 1:]


def mean_hinge(squared_P: Tensor, is_triplet_PP: Tensor, margin: float | Tensor) -> LossOutput:
    """Mean over triplets (i, j) of max(0, D2_ai - D2_aj + margin), satisfied ones included.

    Without an open hinge it is 0 with gradient 0. Active are the open hinges, among the triplets.

    Args:
        squared_P: D2_ai, squared distances of the partners from the anchor.
        is_triplet_PP: whether partner i, in the rows, has to be nearer than partner j.
        margin: squared distance.
    """
    behind_PP = squared_P[:, None] - squared_P + margin
    is_open_PP = is_triplet_PP & (behind_PP > 0.0)
    num_triplets = is_triplet_PP.sum().clamp(min=1)
    value = behind_PP.where(is_open_PP, 0.0).sum() / num_triplets
    return LossOutput(value, is_open_PP.sum() / num_triplets)
