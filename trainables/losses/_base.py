"""What every loss is: a checked set of hyperparameters around a pure function of a batch.

B = batch, D = embedding dimension.
"""

from abc import abstractmethod
from collections.abc import Mapping
from math import isfinite
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

__all__ = ["Batch", "Loss", "LossOutput", "check_range"]


# Named tuples, since torch.func.vmap takes and returns them.
class Batch(NamedTuple):
    """What a loss sees of one training step.

    Attributes:
        embeddings_BD: as the network gave them, of any length.
        normalised_BD: the same with length 1.
        labels_B: int64 training classes, 0 to num_classes - 1 (a proxy loss indexes by them).
    """

    embeddings_BD: Tensor
    normalised_BD: Tensor
    labels_B: Tensor

    @classmethod
    def of(cls, embeddings_BD: Tensor, labels_B: Tensor) -> "Batch":
        """Normalise in float32 or better, whatever the autocast. A zero embedding stays zero."""
        with torch.autocast(embeddings_BD.device.type, enabled=False):
            embeddings_BD = _at_least_float32(embeddings_BD)
            return cls(embeddings_BD, normalize(embeddings_BD, dim=1), labels_B)


class LossOutput(NamedTuple):
    """Two numbers per step.

    Attributes:
        value: what is minimised.
        active_fraction: the part of the batch's tuples that have a gradient, from 0 to 1.
    """

    value: Tensor
    active_fraction: Tensor


class Loss(nn.Module):
    """A loss with its hyperparameters, and the parameters it trains if it has any.

    A subclass names its hyperparameters, with their published defaults, as keyword-only arguments
    of its constructor, which hands them on to this one.

    Attributes:
        needs: what a study has to give: ``balanced`` batches, ``normalised`` embeddings,
            ``proxies`` (parameters of the loss, with a learning rate of their own).
        invariances: what leaves the value as it is: ``permutation`` of the batch, ``rotation`` of
            the embedding space, proxies included, ``scale`` of the embeddings.
        is_random: whether two calls with the same arguments may differ.
        is_vmappable: whether `compute` works under `torch.func.vmap` over hyperparameters.
        hyperparameters: the checked values.
    """

    needs: ClassVar[frozenset[str]] = frozenset()
    invariances: ClassVar[frozenset[str]] = frozenset()
    is_random: ClassVar[bool] = False
    is_vmappable: ClassVar[bool] = False

    def __init__(self, **hyperparameters: float) -> None:
        super().__init__()
        self.validate(**hyperparameters)
        self.hyperparameters = dict(hyperparameters)

    @staticmethod
    @abstractmethod
    def validate(*args: Any, **hyperparameters: Any) -> None:
        """Raise ValueError for the first hyperparameter outside its legal range."""

    @staticmethod
    @abstractmethod
    def compute(
        batch: Batch,
        parameters: Mapping[str, Tensor],
        hyperparameters: Mapping[str, float | Tensor],
    ) -> LossOutput:
        """The arithmetic: pure, dense, without checks; hyperparameters may be 0-d tensors."""

    @classmethod
    def make_parameters(
        cls, num_classes: int, embedding_dim: int, generator: torch.Generator
    ) -> dict[str, Tensor]:
        """Fresh values of the parameters the loss trains, on the generator's device."""
        return {}

    def prepare(self, num_classes: int, embedding_dim: int, generator: torch.Generator) -> None:
        """Give the loss its trained parameters. Has to come before the optimiser is made."""
        made = self.make_parameters(num_classes, embedding_dim, generator)
        for name, value in made.items():
            self.register_parameter(name, nn.Parameter(value))

    def forward(self, batch: Batch) -> LossOutput:
        """The loss of ``batch``, in float32 or better whatever the autocast."""
        with torch.autocast(batch.embeddings_BD.device.type, enabled=False):
            exact = Batch(
                _at_least_float32(batch.embeddings_BD),
                _at_least_float32(batch.normalised_BD),
                batch.labels_B,
            )
            return self.compute(exact, dict(self.named_parameters()), self.hyperparameters)


def check_range(name: str, value: float, low: float, high: float) -> None:
    """Raise ValueError unless ``low <= value <= high``."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (is_number and isfinite(value) and low <= value <= high):
        raise ValueError(f"{name} must be in [{low:g}, {high:g}], but got {value!r}")


def _at_least_float32(values: Tensor) -> Tensor:
    return values.float() if values.dtype in (torch.float16, torch.bfloat16) else values
