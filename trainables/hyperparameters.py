"""Parts a trial's hyperparameters into those of the training recipe and those of the loss."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from trainables.errors import TrialInputError, unknown_name
from trainables.ranges import Interval, Range, Whole
from trainables.settings import HyperparameterValue, TrainingSettings

__all__ = ["check_training", "loss_arguments", "resolved_training"]

# A recipe is the name of a set of values; to override it by a hyperparameter would change nothing.
_TRAINING_NAMES = tuple(field.name for field in fields(TrainingSettings) if field.name != "recipe")


_RANGES: dict[str, Range] = {
    "epochs": Whole(0),
    "batch_size": Whole(2),
    "samples_per_class": Whole(1),
    "learning_rate": Interval(0.0, 1.0, low_inclusive=False),
    "proxy_learning_rate": Interval(0.0, 10.0, low_inclusive=False),
    "weight_decay": Interval(0.0, 1.0),
    "warm_up_epochs": Whole(0, 1000),
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
        f"training.{name} {problem}"
        for name, range_ in _RANGES.items()
        if (problem := range_.problem_with(getattr(training, name)))
    ]
    if problems:
        raise TrialInputError("; ".join(problems))


def loss_arguments(
    loss: str, known: Iterable[str], hyperparameters: Mapping[str, HyperparameterValue]
) -> dict[str, HyperparameterValue]:
    """The hyperparameters that are the loss's.

    Args:
        loss: its name, for the message.
        known: names of the loss's own hyperparameters.
        hyperparameters: of the trial, those of the recipe among them.

    Raises:
        TrialInputError: a name is neither of the loss nor of the recipe.
    """
    own = {name: value for name, value in hyperparameters.items() if name not in _TRAINING_NAMES}
    for name in own:
        if name not in known:
            raise unknown_name(f"hyperparameter of {loss}", name, {*known, *_TRAINING_NAMES})
    return own
