"""One loss for the first epochs, another for the rest."""

import torch

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Criterion, LossOutput


class Pretraining(Criterion):
    """``first`` alone up to epoch ``pretraining_epochs``, ``then`` from there on.

    A metric loss starts better on a network that separates classes already: train it with
    softmax first (Duffner et al., Similarity Metric Learning). A loss that is in both parts keeps
    what it has trained.

    Args:
        first: loss of the first epochs.
        then: loss of all other epochs.
        pretraining_epochs: number of epochs trained by ``first``, at least 0.
    """

    def __init__(self, first: Criterion, then: Criterion, *, pretraining_epochs: int) -> None:
        super().__init__()
        self.first = first
        self.then = then
        self.needs = first.needs | then.needs
        self.is_random = first.is_random or then.is_random
        self._pretraining_epochs = pretraining_epochs
        self._epoch = 1

    def prepare(self, num_classes: int, embedding_dim: int, generator: torch.Generator) -> None:
        """See `Criterion.prepare`."""
        is_shared = any(module is self.first for module in self.then.modules())
        for part in (self.then,) if is_shared else (self.first, self.then):
            part.prepare(num_classes, embedding_dim, generator)

    def start_epoch(self, epoch: int) -> None:
        """See `Criterion.start_epoch`."""
        self._epoch = epoch
        self.first.start_epoch(epoch)
        self.then.start_epoch(epoch)

    def forward(self, batch: Batch) -> LossOutput:
        """See `Criterion.forward`."""
        part = self.first if self._epoch <= self._pretraining_epochs else self.then
        output: LossOutput = part(batch)
        return output
