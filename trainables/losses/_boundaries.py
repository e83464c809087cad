"""Pairs of mined triplets on either side of a boundary that each class may train.

B = batch, C = training classes.
"""

import torch
from torch import Tensor

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Hyperparameters, LossOutput, Tensors
from podium.trainables.losses._triplets import MinedLoss


class BoundaryLoss(MinedLoss):
    """A loss with hyperparameters ``beta`` and ``learn_beta``: the boundary, and whose it is."""

    # The batch's random numbers belong to places, and equal images have an order.
    invariances = frozenset({"rotation", "scale"})
    is_random = True

    def make_parameters(
        self, num_classes: int, embedding_dim: int, generator: torch.Generator
    ) -> dict[str, Tensor]:
        """See `Loss.make_parameters`: ``beta`` of shape (C,), if it is trained."""
        if not self.hyperparameters["learn_beta"]:
            return {}
        beta = float(self.hyperparameters["beta"])
        return {"beta": torch.full((num_classes,), beta, device=generator.device)}


def boundaries(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> Tensor:
    """The boundary of the class of each anchor: shape (B, 1)."""
    if hyperparameters["learn_beta"]:
        return parameters["beta"][batch.labels_B][:, None]
    zero_B1 = torch.zeros_like(batch.normalised_BD[:, :1])
    return zero_B1.add(hyperparameters["beta"])


def mean_open_side(
    beyond_BB: Tensor, counts: tuple[Tensor, Tensor], margin: float | Tensor, num_triplets: Tensor
) -> tuple[LossOutput, Tensor]:
    """Mean of the open hinges of positives beyond the boundary and negatives within it.

    Args:
        beyond_BB: how far each pair lies beyond the boundary of its anchor.
        counts: in how many mined triplets each pair is, from `count_pairs`.
        margin: how far a pair has to keep from the boundary, in the same unit.
        num_triplets: how many triplets the batch has.

    Returns:
        The mean, 0 with gradient 0 without an open hinge, with the open ones of two hinges for
        every triplet there is; and their number.
    """
    positive_BB, negative_BB = counts
    num_pulls_BB = positive_BB * (beyond_BB + margin > 0.0)
    num_pushes_BB = negative_BB * (margin - beyond_BB > 0.0)
    num_open = num_pulls_BB.sum() + num_pushes_BB.sum()
    total = num_pulls_BB * (beyond_BB + margin) + num_pushes_BB * (margin - beyond_BB)
    value = total.sum() / num_open.clamp(min=1.0)
    return LossOutput(value, num_open / (2 * num_triplets)), num_open
