"""Several losses on one batch."""

from collections.abc import Sequence

import torch
from torch import nn

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Criterion, LossOutput


class WeightedSum(Criterion):
    """Sum of weight * loss; the active fraction is the mean of the terms'.

    Args:
        terms: weighted losses, at least one.
        weights: one for each term, at least 0. A term of weight 0 changes nothing.
    """

    def __init__(self, terms: Sequence[Criterion], weights: Sequence[float]) -> None:
        super().__init__()
        self.terms = nn.ModuleList(terms)
        self._criteria = tuple(terms)  # the same, with their type
        self._weights = tuple(weights)
        self.needs = frozenset[str]().union(*(term.needs for term in terms))
        self.is_random = any(term.is_random for term in terms)

    def prepare(self, num_classes: int, embedding_dim: int, generator: torch.Generator) -> None:
        """See `Criterion.prepare`."""
        for term in self._criteria:
            term.prepare(num_classes, embedding_dim, generator)

    def start_epoch(self, epoch: int) -> None:
        """See `Criterion.start_epoch`."""
        for term in self._criteria:
            term.start_epoch(epoch)

    def forward(self, batch: Batch) -> LossOutput:
        """See `Criterion.forward`."""
        outputs: list[LossOutput] = [term(batch) for term in self._criteria]
        weighted = [
            weight * output.value for weight, output in zip(self._weights, outputs, strict=True)
        ]
        actives = torch.stack([output.active_fraction for output in outputs])
        return LossOutput(torch.stack(weighted).sum(), actives.mean())
