"""Parts a trial's hyperparameters into those of the training recipe and those of the loss."""

from collections.abc import Iterable, Mapping

from podium.trainables.errors import TrialInputError, unknown_name
from podium.trainables.settings.training_settings import (
    TRAINING_TYPES,
    HyperparameterValue,
    TrainingSettings,
)
from podium.trainables.settings.unused_settings import unused_settings


def resolved_training(
    training: TrainingSettings, hyperparameters: Mapping[str, HyperparameterValue]
) -> TrainingSettings:
    """The recipe with the hyperparameters that are fields of it in their place.

    Raises:
        TrialInputError: a value is out of range, or changes nothing beside the others.
    """
    resolved = training.with_values(hyperparameters)
    resolved.check()
    # What depends on loss, backbone or data set is checked where these are known.
    for name, reason in unused_settings(resolved).items():
        if name in hyperparameters:
            raise TrialInputError(f"training.{name} changes nothing: {reason}")
    return resolved


def loss_arguments(
    loss: str, known: Iterable[str], hyperparameters: Mapping[str, HyperparameterValue]
) -> dict[str, HyperparameterValue]:
    """The hyperparameters of a trial that are its loss's, which knows them by these names.

    Raises:
        TrialInputError: a name is neither of the loss nor of the recipe.
    """
    own = {name: value for name, value in hyperparameters.items() if name not in TRAINING_TYPES}
    for name in own:
        if name not in known:
            raise unknown_name(f"hyperparameter of {loss}", name, {*known, *TRAINING_TYPES})
    return own
