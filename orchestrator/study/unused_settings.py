"""Hyperparameters that a person sets and no trial would heed."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from orchestrator.study.dataset_facts import dataset_facts
from orchestrator.study.loss_facts import facts_of
from search_spaces.parameters import Value
from search_spaces.training_parameters import PROXY_PARAMETERS
from trainables.network.backbone_facts import backbone_facts
from trainables.settings.frozen_feature_rules import unused_training_settings
from trainables.settings.loss_expression import parse_loss
from trainables.settings.trial_settings import DatasetSettings, TrainingSettings

__all__ = [
    "never_reached",
    "waits",
    "why_unused",
    "why_unused_training",
    "why_without_proxies",
]

# Hyperparameters that wait for an epoch, and how many epochs there must be beyond it.
_LEFT_OVER = {"memory_start_epoch": 0, "pretraining_epochs": 1}


def why_unused(loss: str, name: str, configs: Iterable[Mapping[str, Value]]) -> str | None:
    """Why a hyperparameter of ``loss`` changes nothing, in words; None if it changes something.

    Args:
        loss: as a study names it.
        name: of the hyperparameter.
        configs: with all others; it is enough if the hyperparameter counts in one of them.
    """
    if name in PROXY_PARAMETERS and (reason := why_without_proxies(loss)):
        return f"changes nothing: {reason}"
    condition = facts_of(loss).conditions.get(name)
    if condition is not None and not any(condition.holds(config) for config in configs):
        return f"changes nothing: it exists only if {condition}"
    return None


def why_without_proxies(loss: str) -> str | None:
    """Why a loss does not heed `PROXY_PARAMETERS`, in words; None if it does.

    A loss of another library may train parameters without a word in its constructor.
    """
    if any(term.is_external for term in parse_loss(loss).all_terms):
        return None
    return None if "proxies" in facts_of(loss).needs else f"{loss} has no proxies"


def waits(name: str) -> bool:
    """Whether a hyperparameter says for which epoch a memory or a main loss waits."""
    return name.rpartition(".")[2] in _LEFT_OVER


def never_reached(name: str, earliest: Value, epochs: int) -> str | None:
    """The rule on a memory or a main loss that training does not come to; None if it does.

    Args:
        name: of a hyperparameter that waits.
        earliest: its smallest value.
        epochs: of the training.
    """
    last = epochs - _LEFT_OVER[name.rpartition(".")[2]]
    if float(earliest) <= last:
        return None
    return (
        f"{name} must be at most {last}, since training.epochs is {epochs}: what comes after it "
        "would never train"
    )


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


def why_unused_training(
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
    if reason := unused_training_settings(training.mode, has_vectors=has_vectors).get(name):
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
