"""A loss of another library, called as ``loss(embeddings, labels)``."""

import inspect
from collections.abc import Mapping

import torch
from torch import nn

from podium.trainables.errors import TrialInputError
from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Criterion, LossOutput
from podium.trainables.settings.training_settings import HyperparameterValue

# What podium can pass to a constructor, under the names that are in use.
_CLASSES = frozenset({"num_classes"})
_DIMENSIONS = frozenset({"embedding_size", "embedding_dim"})


class ExternalLoss(Criterion):
    """Wraps a module that maps raw embeddings (B, D) and int64 labels (B,) to one number.

    That is what the losses of pytorch-metric-learning do. ``num_classes`` and ``embedding_size``
    (or ``embedding_dim``) are filled in where its constructor names them. It cannot tell how many
    of its tuples are active: the fraction is 1, or 0 where the value is 0.

    Args:
        loss_class: the module's class.
        hyperparameters: keyword arguments of its constructor.
    """

    def __init__(
        self, loss_class: type[nn.Module], hyperparameters: Mapping[str, HyperparameterValue]
    ) -> None:
        super().__init__()
        self.needs = external_needs(loss_class)
        self._loss_class = loss_class
        self._hyperparameters = dict(hyperparameters)

    def prepare(self, num_classes: int, embedding_dim: int, generator: torch.Generator) -> None:
        """See `Criterion.prepare`.

        Raises:
            TrialInputError: the class does not take these hyperparameters, or its forward not
                two arguments.
        """
        names = inspect.signature(self._loss_class).parameters
        filled = {
            **dict.fromkeys(_CLASSES & names.keys(), num_classes),
            **dict.fromkeys(_DIMENSIONS & names.keys(), embedding_dim),
        }
        seed = int(torch.randint(2**31, (), generator=generator))
        with torch.random.fork_rng(devices=[]):  # foreign proxies come from the global generator
            torch.manual_seed(seed)
            try:
                self.loss = self._loss_class(**filled, **self._hyperparameters)
            except Exception as error:  # constructors refuse values by any of them
                raise TrialInputError(
                    f"{self._loss_class.__name__}: {type(error).__name__}: {error}"
                ) from error
        try:
            inspect.signature(self.loss.forward).bind(None, None)
        except TypeError as error:
            raise TrialInputError(
                f"{self._loss_class.__name__} must be called as loss(embeddings, labels): {error}"
            ) from error

    def forward(self, batch: Batch) -> LossOutput:
        """See `Criterion.forward`. It may change the embeddings that it gets in place.

        Raises:
            TrialInputError: it gives anything but one number with a gradient.
        """
        name = self._loss_class.__name__
        with torch.autocast(batch.embeddings_BD.device.type, enabled=False):
            value = self.loss(batch.at_least_float32().embeddings_BD.clone(), batch.labels_B)
        if not isinstance(value, torch.Tensor) or value.numel() != 1:
            what = (
                f"shape {tuple(value.shape)}" if isinstance(value, torch.Tensor) else f"{value!r}"
            )
            raise TrialInputError(f"{name} must give one number for a batch, a tensor; got {what}")
        if batch.embeddings_BD.requires_grad and not value.requires_grad:
            raise TrialInputError(
                f"{name} must give a number that follows from the embeddings by torch, without"
                f" detach(), item() or numpy; got {value.item():g}, which has no gradient. For a"
                " batch without pairs, return embeddings.sum() * 0"
            )
        value = value.reshape(())
        return LossOutput(value, (value.detach() != 0.0).to(value.dtype))


def external_needs(loss_class: type[nn.Module]) -> frozenset[str]:
    """``proxies`` if the constructor takes a number of classes; nothing else can be known."""
    names = inspect.signature(loss_class).parameters.keys()
    return frozenset({"proxies"}) if _CLASSES & names else frozenset()
