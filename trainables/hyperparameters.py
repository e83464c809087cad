"""Parts a trial's hyperparameters into those of the training recipe and those of the loss."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from math import inf, isfinite
from typing import Any

from trainables.errors import TrialInputError, unknown_name
from trainables.settings import HyperparameterValue, TrainingSettings

__all__ = ["check_training", "loss_arguments", "resolved_training"]

# A recipe is the name of a set of values; to override it by a hyperparameter would change nothing.
_TRAINING_NAMES = tuple(field.name for field in fields(TrainingSettings) if field.name != "recipe")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Range:
    low: float
    high: float = inf
    is_low_included: bool = True
    is_whole: bool = False

    def __contains__(self, value: object) -> bool:
        kind = int if self.is_whole else (int, float)
        if not isinstance(value, kind) or isinstance(value, bool) or not isfinite(value):
            return False
        return self.low < value <= self.high or (self.is_low_included and value == self.low)

    def __str__(self) -> str:
        high = f"{self.high:g}]" if isfinite(self.high) else "inf)"
        kind = "a whole number" if self.is_whole else "a number"
        return f"{kind} in {'[' if self.is_low_included else '('}{self.low:g}, {high}"


_RANGES = {
    "epochs": _Range(low=0, is_whole=True),
    "batch_size": _Range(low=2, is_whole=True),
    "samples_per_class": _Range(low=1, is_whole=True),
    "learning_rate": _Range(low=0.0, high=1.0, is_low_included=False),
    "proxy_learning_rate": _Range(low=0.0, high=10.0, is_low_included=False),
    "weight_decay": _Range(low=0.0, high=1.0),
}


def resolved_training(
    training: TrainingSettings, hyperparameters: Mapping[str, HyperparameterValue]
) -> TrainingSettings:
    """The recipe with the hyperparameters that are fields of it in their place.

    Raises:
        TrialInputError: a value is out of range.
    """
    overrides: dict[str, Any] = {
        name: value for name, value in hyperparameters.items() if name in _TRAINING_NAMES
    }
    resolved = replace(training, **overrides)
    check_training(resolved)
    return resolved


def check_training(training: TrainingSettings) -> None:
    """Refuse values no training can use; the sampler's name is checked where it is loaded.

    Raises:
        TrialInputError: names every value that is out of range.
    """
    problems = [
        f"training.{name} must be {range_}; got {getattr(training, name)!r}"
        for name, range_ in _RANGES.items()
        if getattr(training, name) not in range_
    ]
    if problems:
        raise TrialInputError("; ".join(problems))


def loss_arguments(
    loss: str, loss_class: type[Any] | None, hyperparameters: Mapping[str, HyperparameterValue]
) -> dict[str, HyperparameterValue]:
    """The hyperparameters that go to the loss's constructor.

    Args:
        loss: its name, for the message.
        loss_class: None for a trial without training, which has no loss.
        hyperparameters: of the trial, those of the recipe among them.

    Raises:
        TrialInputError: a name is neither of the loss nor of the recipe.
    """
    known = set(inspect.signature(loss_class).parameters) if loss_class else set()
    own = {name: value for name, value in hyperparameters.items() if name not in _TRAINING_NAMES}
    for name in own:
        if name not in known:
            raise unknown_name(f"hyperparameter of {loss}", name, known | set(_TRAINING_NAMES))
    return own
