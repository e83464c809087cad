"""Parts a trial's hyperparameters into those of the training recipe and those of the loss.

What a field of the recipe may be is data here, without torch.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any

from trainables.errors import TrialInputError, unknown_name
from trainables.settings.frozen_feature_rules import unused_training_settings
from trainables.settings.legal_ranges import Flag, Interval, OneOf, Range, Whole
from trainables.settings.trial_settings import HyperparameterValue, TrainingSettings

__all__ = [
    "CHOICES",
    "LEGAL_VALUES",
    "check_training",
    "loss_arguments",
    "resolved_training",
    "why_idle",
]

# A recipe is the name of a set of values; to override it by a hyperparameter would change nothing.
_TRAINING_NAMES = tuple(field.name for field in fields(TrainingSettings) if field.name != "recipe")

# The sampler is a file name, so it is checked where it is loaded.
CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "mode": ("fine_tune", "frozen_features"),
        "optimiser": ("adamw", "adam", "rmsprop", "sgd"),
        "batch_norm": ("train", "frozen_statistics", "frozen"),
        "clipped": ("all", "network", "loss"),
        "precision": ("float32", "bf16"),
        "augmentation": ("shift", "random_resized_crop", "none"),
        "cache": ("resized", "none"),
        "loader": ("host", "device"),
        "pooling": ("average", "max", "average+max"),
        "head_init": ("uniform", "kaiming"),
    }
)

LEGAL_VALUES: Mapping[str, Range] = {
    "epochs": Whole(0, 100_000),
    "batch_size": Whole(2, 1_000_000),
    "micro_batch_size": Whole(0, 1_000_000),
    "samples_per_class": Whole(1, 100_000),
    "adam_epsilon": Interval(0.0, 1.0, low_inclusive=False),
    "momentum": Interval(0.0, 0.9999),
    "learning_rate": Interval(0.0, 1.0, low_inclusive=False),
    "head_learning_rate_factor": Interval(0.0, 1e4, low_inclusive=False),
    "proxy_learning_rate": Interval(0.0, 10.0),
    "weight_decay": Interval(0.0, 1.0),
    "proxy_weight_decay": Interval(0.0, 1.0),
    "step_epochs": Whole(0, 1000),
    "step_factor": Interval(0.0, 1.0, low_inclusive=False),
    "warm_up_epochs": Whole(0, 1000),
    "clip_value": Interval(0.0, 1e6),
    "channels_last": Flag(),
    "compile": Flag(),
    "crop_scale_min": Interval(0.0, 1.0, low_inclusive=False),
    "evaluation_crop": Interval(0.0, 1.0, low_inclusive=False),
    "layer_norm": Flag(),
    "l2": Flag(),
    **{name: OneOf(values) for name, values in CHOICES.items()},
}


def resolved_training(
    training: TrainingSettings, hyperparameters: Mapping[str, HyperparameterValue]
) -> TrainingSettings:
    """The recipe with the hyperparameters that are fields of it in their place.

    Raises:
        TrialInputError: a value is out of range, or changes nothing beside the others.
    """
    overrides: dict[str, Any] = {
        name: value for name, value in hyperparameters.items() if name in _TRAINING_NAMES
    }
    resolved = replace(training, **overrides)
    check_training(resolved)
    for name in overrides:
        if reason := why_idle(resolved, name):
            raise TrialInputError(f"training.{name} {reason}")
    return resolved


def check_training(training: TrainingSettings) -> None:
    """Refuse values no training can use; the sampler's name is checked where it is loaded.

    Raises:
        TrialInputError: names every value that is out of range.
    """
    problems = [
        f"training.{name} {problem}"
        for name, range_ in LEGAL_VALUES.items()
        if (problem := range_.problem_with(getattr(training, name)))
    ]
    if problems:
        raise TrialInputError("; ".join(problems))


def why_idle(training: TrainingSettings, name: str) -> str | None:
    """Why a field changes nothing beside the others, in words; None if it may change something.

    What depends on loss, backbone or data set is checked where these are known.

    Args:
        training: legal values.
        name: name of one of its fields.
    """
    if reason := unused_training_settings(training.mode, has_vectors=False).get(name):
        return f"changes nothing: {reason}"
    for names, holds, needed in _CONDITIONS:
        if name in names and not holds(training):
            return f"changes nothing: it acts only with {needed}"
    return None


# Fields, when they act, and that in words.
_CONDITIONS: tuple[tuple[tuple[str, ...], Callable[[TrainingSettings], bool], str], ...] = (
    (
        ("adam_epsilon",),
        lambda training: training.optimiser in ("adamw", "adam"),
        "optimiser adamw or adam",
    ),
    (
        ("momentum",),
        lambda training: training.optimiser in ("rmsprop", "sgd"),
        "optimiser rmsprop or sgd",
    ),
    (
        ("samples_per_class",),
        lambda training: training.sampler == "balanced",
        "sampler balanced",
    ),
    (("step_factor",), lambda training: training.step_epochs > 0, "step_epochs above 0"),
    (
        ("step_epochs",),
        lambda training: training.step_epochs == 0 or training.step_epochs < training.epochs,
        "epochs above step_epochs",
    ),
    (
        ("micro_batch_size",),
        lambda training: training.micro_batch_size < training.batch_size,
        "batch_size above micro_batch_size",
    ),
    (("clipped",), lambda training: training.clip_value > 0.0, "clip_value above 0"),
    (
        ("crop_scale_min",),
        lambda training: training.augmentation == "random_resized_crop",
        "augmentation random_resized_crop",
    ),
)


def loss_arguments(
    loss: str, known: Iterable[str], hyperparameters: Mapping[str, HyperparameterValue]
) -> dict[str, HyperparameterValue]:
    """The hyperparameters that are the loss's.

    Args:
        loss: name of the loss, for messages.
        known: names of the loss's own hyperparameters.
        hyperparameters: hyperparameters of the trial, those of the recipe among them.

    Raises:
        TrialInputError: a name is neither of the loss nor of the recipe.
    """
    own = {name: value for name, value in hyperparameters.items() if name not in _TRAINING_NAMES}
    for name in own:
        if name not in known:
            raise unknown_name(f"hyperparameter of {loss}", name, {*known, *_TRAINING_NAMES})
    return own
