"""What a miner takes and gives: boolean masks over the pairs of a batch.

B = batch; P_BB[a, p] and N_BB[a, n] hold for positive and negative pairs of anchor a.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

__all__ = ["PairMasks", "PairMiner", "pair_masks"]


class PairMasks(NamedTuple):
    """Which ordered pairs (anchor in the rows, other in the columns) take part.

    Attributes:
        positive_BB: bool, pairs of one class.
        negative_BB: bool, pairs of two classes.
    """

    positive_BB: Tensor
    negative_BB: Tensor


def pair_masks(labels_B: Tensor) -> PairMasks:
    """All pairs of a batch. An image is no pair with itself, which is told by its index."""
    same_BB = labels_B[:, None] == labels_B[None, :]
    self_BB = torch.eye(len(labels_B), dtype=torch.bool, device=labels_B.device)
    return PairMasks(same_BB & ~self_BB, ~same_BB)


class PairMiner(ABC):
    """Keeps some pairs of a batch. Masks, not index lists: shapes never depend on the data."""

    @staticmethod
    @abstractmethod
    def mine(
        similarities_BB: Tensor, pairs: PairMasks, hyperparameters: Mapping[str, float | Tensor]
    ) -> PairMasks:
        """The pairs of ``pairs`` worth training on.

        Args:
            similarities_BB: cosines; no gradient flows through the choice.
            pairs: the pairs to choose from.
            hyperparameters: those of the loss; a miner reads its own.
        """
