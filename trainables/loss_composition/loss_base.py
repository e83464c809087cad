"""What every loss is: a checked set of hyperparameters around a pure function of a batch.

B = batch, D = embedding dimension.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.settings.legal_ranges import Parameter

# Real numbers may be 0-d tensors, to be mapped over; names, flags and counts are plain values.
Hyperparameters = Mapping[str, Any]
Tensors = Mapping[str, Tensor]


# A named tuple, since torch.func.vmap takes and returns it.
class LossOutput(NamedTuple):
    """Two numbers per step.

    Attributes:
        value: scalar to minimise.
        active_fraction: the part of the batch's tuples that have a gradient, from 0 to 1.
    """

    value: Tensor
    active_fraction: Tensor


class Criterion(nn.Module):
    """What a network is trained to minimise: a loss, or several together.

    Attributes:
        needs: what a study has to provide: ``balanced`` batches, ``normalised`` embeddings,
            ``proxies`` (trained parameters of the loss, with a learning rate of their own),
            ``label_distances``, ``class_text``, ``several_views``.
        is_random: whether it reads the batch's uniform numbers.
    """

    needs: frozenset[str] = frozenset()
    is_random: bool = False

    def prepare(self, num_classes: int, embedding_dim: int, generator: torch.Generator) -> None:
        """Make what is trained or remembered. Has to come before the optimiser is made."""

    def start_epoch(self, epoch: int) -> None:
        """Hear that an epoch begins, counted from 1. Most losses do not care."""

    @abstractmethod
    def forward(self, batch: Batch) -> LossOutput:
        """The loss of ``batch``, in float32 or better whatever the autocast."""


class Loss(Criterion):
    """A loss with its hyperparameters, and the parameters it trains if it has any.

    A subclass declares its hyperparameters; the constructor takes their values by name. What a
    loss declares is known without torch, so ``kind``, ``source``, ``needs`` and ``declared`` are
    literals; see `trainables.registry.literals`.

    Attributes:
        kind: group of losses: ``pair``, ``proxy``, ...
        source: paper and equation.
        declared: its hyperparameters by name.
        invariances: what leaves the value as it is: ``permutation`` of the batch, ``rotation`` of
            the embedding space, proxies included, ``scale`` of the embeddings; all by default.
        is_vmappable: whether `compute` works under `torch.func.vmap` over the real-valued
            hyperparameters.
        takes_references: whether the partners of its anchors may be other than the batch itself,
            as a cross-batch memory makes them.
        hyperparameters: the checked values.
    """

    kind: ClassVar[str]
    source: ClassVar[str]
    declared: ClassVar[Mapping[str, Parameter]] = {}
    invariances: ClassVar[frozenset[str]] = frozenset({"permutation", "rotation", "scale"})
    is_vmappable: ClassVar[bool] = True
    takes_references: ClassVar[bool] = False

    def __init__(self, **hyperparameters: float | str) -> None:
        super().__init__()
        for name, value in hyperparameters.items():
            if name not in self.declared:
                raise ValueError(f"no such hyperparameter: {name}")
            if problem := self.declared[name].problem_with(value):
                raise ValueError(f"{name} {problem}")
        self.hyperparameters: Hyperparameters = {
            name: parameter.typed(hyperparameters.get(name, parameter.default))
            for name, parameter in self.declared.items()
        }

    @staticmethod
    @abstractmethod
    def compute(batch: Batch, parameters: Tensors, hyperparameters: Hyperparameters) -> LossOutput:
        """The arithmetic: pure, dense, without checks; hyperparameters may be 0-d tensors."""

    def make_parameters(
        self, num_classes: int, embedding_dim: int, generator: torch.Generator
    ) -> dict[str, Tensor]:
        """Fresh values of the parameters the loss trains, on the generator's device."""
        return {}

    def prepare(self, num_classes: int, embedding_dim: int, generator: torch.Generator) -> None:
        """See `Criterion.prepare`."""
        made = self.make_parameters(num_classes, embedding_dim, generator)
        for name, value in made.items():
            self.register_parameter(name, nn.Parameter(value))

    def forward(self, batch: Batch) -> LossOutput:
        """See `Criterion.forward`."""
        with torch.autocast(batch.embeddings_BD.device.type, enabled=False):
            parameters = dict(self.named_parameters())
            return self.compute(batch.at_least_float32(), parameters, self.hyperparameters)
