"""Optimisers of many members at once: torch's arithmetic, with the rates of each member.

P = members; every tensor has them first: (P, ...).
"""

from collections.abc import Callable
from dataclasses import dataclass, fields

import torch
from torch import Tensor

# The defaults of torch.optim, which no recipe changes.
_BETA_1, _BETA_2 = 0.9, 0.999
_RMSPROP_DECAY, _RMSPROP_EPSILON = 0.99, 1e-8


@dataclass(slots=True, kw_only=True)
class Trained:
    """A trained tensor of all members, with what its optimiser remembers of it.

    Attributes:
        value: of shape (P, ...).
        first: running mean of gradients; the momentum of ``rmsprop`` and ``sgd``.
        second: running mean of squared gradients; unused by ``sgd``.
    """

    value: Tensor
    first: Tensor
    second: Tensor

    @classmethod
    def fresh(cls, value: Tensor) -> "Trained":
        """A tensor that no step has changed yet."""
        return cls(value=value, first=torch.zeros_like(value), second=torch.zeros_like(value))

    def select(self, kept_K: Tensor) -> "Trained":
        """Of some members only, in that order."""
        return Trained(**{field.name: getattr(self, field.name)[kept_K] for field in fields(self)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """How fast one group of parameters of each member moves, each float32 of shape (P,).

    Attributes:
        learning_rate: in the current epoch.
        decay: weight decay.
        momentum: of ``rmsprop`` and ``sgd``.
        epsilon: of ``adamw`` and ``adam``.
    """

    learning_rate: Tensor
    decay: Tensor
    momentum: Tensor
    epsilon: Tensor

    def beside(self, value: Tensor) -> "Rates":
        """The rates in a shape that multiplies a tensor (P, ...)."""
        shape = (-1,) + (1,) * (value.dim() - 1)
        return Rates(**{name.name: getattr(self, name.name).view(shape) for name in fields(self)})


def update(optimiser: str, trained: Trained, gradient: Tensor, rates: Rates, step: Tensor) -> None:
    """Move a tensor of every member by one step, in place.

    Args:
        optimiser: ``adamw``, ``adam``, ``rmsprop`` or ``sgd``.
        trained: the tensor.
        gradient: its gradient, of shape (P, ...).
        rates: of its group.
        step: number of this step, from 1, a scalar.
    """
    _UPDATES[optimiser](trained, gradient, rates.beside(trained.value), step)


def _adamw(trained: Trained, gradient: Tensor, rates: Rates, step: Tensor) -> None:
    trained.value.mul_(1.0 - rates.learning_rate * rates.decay)
    _adam_step(trained, gradient, rates, step)


def _adam(trained: Trained, gradient: Tensor, rates: Rates, step: Tensor) -> None:
    _adam_step(trained, gradient + rates.decay * trained.value, rates, step)


def _adam_step(trained: Trained, gradient: Tensor, rates: Rates, step: Tensor) -> None:
    first = trained.first.lerp_(gradient, 1.0 - _BETA_1)
    second = trained.second.mul_(_BETA_2).addcmul_(gradient, gradient, value=1.0 - _BETA_2)
    correction_1, correction_2 = 1.0 - _BETA_1**step, 1.0 - _BETA_2**step
    root = second.sqrt() / correction_2.sqrt() + rates.epsilon
    trained.value.sub_(rates.learning_rate / correction_1 * (first / root))


def _rmsprop(trained: Trained, gradient: Tensor, rates: Rates, step: Tensor) -> None:
    gradient = gradient + rates.decay * trained.value
    second = trained.second.mul_(_RMSPROP_DECAY).addcmul_(
        gradient, gradient, value=1.0 - _RMSPROP_DECAY
    )
    scaled = gradient / (second.sqrt() + _RMSPROP_EPSILON)
    first = trained.first.mul_(rates.momentum).add_(scaled)
    trained.value.sub_(rates.learning_rate * first)


def _sgd(trained: Trained, gradient: Tensor, rates: Rates, step: Tensor) -> None:
    gradient = gradient + rates.decay * trained.value
    first = trained.first.mul_(rates.momentum).add_(gradient)
    trained.value.sub_(rates.learning_rate * first)


_UPDATES: dict[str, Callable[[Trained, Tensor, Rates, Tensor], None]] = {
    "adamw": _adamw,
    "adam": _adam,
    "rmsprop": _rmsprop,
    "sgd": _sgd,
}
