"""What a miner takes and gives: boolean masks over the pairs or triplets of a batch.

B = batch, R = references: the batch itself, unless it brings others.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor

from trainables.batch import Batch
from trainables.losses._base import Hyperparameters

__all__ = ["PairMasks", "PairMiner", "TripletMiner", "pair_masks"]


class PairMasks(NamedTuple):
    """Which ordered pairs (anchor in the rows, partner in the columns) take part.

    Attributes:
        positive_BR: bool, pairs of one class.
        negative_BR: bool, pairs of two classes.
    """

    positive_BR: Tensor
    negative_BR: Tensor


def pair_masks(batch: Batch) -> PairMasks:
    """All pairs of a batch. An image is no pair with itself, which is told by its index."""
    labels_B1 = batch.labels_B[:, None]
    if batch.references is not None:
        labels_R = batch.references.labels_R
        same_BR = labels_B1 == labels_R
        return PairMasks(same_BR, ~same_BR & (labels_R >= 0))
    same_BB = labels_B1 == batch.labels_B
    self_BB = torch.eye(len(batch.labels_B), dtype=torch.bool, device=batch.labels_B.device)
    return PairMasks(same_BB & ~self_BB, ~same_BB)


class PairMiner(ABC):
    """Keeps some pairs of a batch. Masks, not index lists: shapes never depend on the data."""

    @staticmethod
    @abstractmethod
    def mine(
        similarities_BR: Tensor, pairs: PairMasks, hyperparameters: Hyperparameters
    ) -> PairMasks:
        """The pairs of ``pairs`` worth training on.

        Args:
            similarities_BR: cosines; no gradient flows through the choice.
            pairs: the pairs to choose from.
            hyperparameters: those of the loss; a miner reads its own.
        """


class TripletMiner(ABC):
    """Keeps some triplets (anchor, positive, negative) of a batch, as a mask.

    Attributes:
        is_random: whether it reads ``uniform_BB``.
    """

    is_random = False

    @staticmethod
    @abstractmethod
    def mine(
        similarities_BB: Tensor,
        pairs: PairMasks,
        hyperparameters: Hyperparameters,
        embedding_dim: int,
        uniform_BB: Tensor | None,
    ) -> Tensor:
        """The triplets worth training on: bool, (anchor, positive, negative), shape (B, B, B).

        Args:
            similarities_BB: cosines; no gradient flows through the choice.
            pairs: the pairs that triplets are made of.
            hyperparameters: those of the loss; a miner reads its own.
            embedding_dim: D.
            uniform_BB: independent numbers in [0, 1), one for each anchor and positive.
        """
