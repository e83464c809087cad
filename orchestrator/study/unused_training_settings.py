"""Settings of training that a person gives and a trial would not heed."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from orchestrator.study.dataset_facts import dataset_facts
from orchestrator.study.unused_hyperparameters import why_without_proxies
from search_spaces.training_parameters import PROXY_PARAMETERS
from trainables.network.backbone_facts import backbone_facts
from trainables.settings.frozen_feature_rules import unheeded_training
from trainables.settings.trial_settings import DatasetSettings, TrainingSettings

__all__ = ["why_unheeded_training"]

_OF_FILES = ("cache", "loader", "evaluation_crop")

# Backbone -> what acts on networks that have something to train or to round.
_PASSED_BY = {"identity": ("precision", "warm_up_epochs", "batch_norm")}

# Setting -> why a training does not heed it, None if it does.
_CONDITIONS: Mapping[str, Callable[[TrainingSettings], str | None]] = MappingProxyType(
    {
        "crop_scale_min": lambda training: _unless(
            training.augmentation == "random_resized_crop",
            f"augmentation {training.augmentation} takes no random crops",
        ),
        "step_epochs": lambda training: _too_late_to_step(training),
        "step_factor": lambda training: (
            _too_late_to_step(training)
            if training.step_epochs
            else "step_epochs is 0, so that learning rates stay"
        ),
        "adam_epsilon": lambda training: _unless(
            training.optimiser in ("adamw", "adam"), f"the optimiser is {training.optimiser}"
        ),
        "momentum": lambda training: _unless(
            training.optimiser in ("rmsprop", "sgd"), f"the optimiser is {training.optimiser}"
        ),
        "samples_per_class": lambda training: _unless(
            training.sampler == "balanced", f"the sampler is {training.sampler}"
        ),
        "clipped": lambda training: _unless(
            training.clip_value > 0, "clip_value is 0, so that no gradient is clipped"
        ),
        "micro_batch_size": lambda training: _unless(
            training.micro_batch_size < training.batch_size,
            f"a batch has {training.batch_size} images",
        ),
    }
)


def why_unheeded_training(
    name: str,
    training: TrainingSettings,
    *,
    dataset: DatasetSettings,
    backbone: str,
    loss: str | None,
) -> str | None:
    """Why a setting changes nothing, in words; None if it changes something.

    Args:
        name: of the setting.
        training: all of them.
        dataset: what is trained on.
        backbone: its name.
        loss: as a study names it; None if it is not known.

    Raises:
        TrialInputError: there is no such data set or backbone.
    """
    facts, network = dataset_facts(dataset), backbone_facts(backbone)
    has_vectors = facts.num_features is not None
    if reason := unheeded_training(training.mode, has_vectors=has_vectors).get(name):
        return reason
    if name in _OF_FILES and facts.has_own_size:
        return f"the images of {dataset.label} have a size of their own"
    if name == "pooling" and network is not None and not network.has_map:
        return f"{backbone} has no map of features to pool"
    if loss is not None and (name in PROXY_PARAMETERS or _clips_proxies_alone(name, training)):
        return why_without_proxies(loss)
    if name in _PASSED_BY.get(backbone, ()):
        return f"{backbone} passes vectors on as they are"
    condition = _CONDITIONS.get(name)
    return None if condition is None else condition(training)


def _too_late_to_step(training: TrainingSettings) -> str | None:
    """Steps come after whole epochs, so one after the last would train nothing."""
    if training.step_epochs < training.epochs:
        return None
    return f"training ends after {training.epochs} epochs, before learning rates step down"


def _clips_proxies_alone(name: str, training: TrainingSettings) -> bool:
    is_clipped = training.clip_value > 0 and training.clipped == "loss"
    return is_clipped and name in ("clip_value", "clipped")


def _unless(holds: bool, reason: str) -> str | None:
    return None if holds else reason
