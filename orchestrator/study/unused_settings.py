"""Finds hyperparameters and settings that a user sets and that no trial would use."""

from collections.abc import Iterable, Mapping

from orchestrator.study.dataset_facts import dataset_facts
from orchestrator.study.loss_facts import facts_of
from search_spaces.parameters import Value
from search_spaces.training_parameters import PROXY_PARAMETERS
from trainables.network.backbone_facts import backbone_facts
from trainables.settings.frozen_feature_rules import unused_training_settings
from trainables.settings.loss_expression import parse_loss
from trainables.settings.training_settings import TrainingSettings
from trainables.settings.trial_settings import DatasetSettings

# Hyperparameters that name a start epoch -> how many epochs must follow it.
_EPOCHS_AFTER = {"memory_start_epoch": 0, "pretraining_epochs": 1}

# Settings that act only where images are files, of any size.
_IMAGE_FILE_SETTINGS = ("cache", "loader", "evaluation_crop")

# Backbone without weights -> settings that act only on networks with weights.
_UNUSED_WITHOUT_WEIGHTS = {"identity": ("precision", "warm_up_epochs", "batch_norm")}


def why_unused(loss: str, name: str, configs: Iterable[Mapping[str, Value]]) -> str | None:
    """Why a hyperparameter of ``loss`` changes nothing, in words; None if it changes something.

    Args:
        loss: name of the loss in a study.
        name: name of the hyperparameter.
        configs: values of all hyperparameters; the hyperparameter must exist in one config.
    """
    if name in PROXY_PARAMETERS and (reason := _why_without_proxies(loss)):
        return f"changes nothing: {reason}"
    condition = facts_of(loss).conditions.get(name)
    if condition is not None and not any(condition.holds(config) for config in configs):
        return f"changes nothing: it exists only if {condition}"
    return None


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
        name: name of the setting.
        training: all training settings.
        dataset: data set that is trained on.
        backbone: name of the backbone.
        loss: name of the loss in a study; None if it is not known.

    Raises:
        TrialInputError: there is no such data set or backbone.
    """
    facts, network = dataset_facts(dataset), backbone_facts(backbone)
    has_vectors = facts.num_features is not None
    if reason := unused_training_settings(training.mode, has_vectors=has_vectors).get(name):
        return reason
    if name in _IMAGE_FILE_SETTINGS and facts.has_own_size:
        return f"the images of {dataset.label} have a size of their own"
    if name == "pooling" and network is not None and not network.has_map:
        return f"{backbone} has no map of features to pool"
    if loss is not None and (name in PROXY_PARAMETERS or _clips_proxies_alone(name, training)):
        return _why_without_proxies(loss)
    if name in _UNUSED_WITHOUT_WEIGHTS.get(backbone, ()):
        return f"{backbone} passes vectors on as they are"
    if name == "step_factor" and training.step_epochs:  # acts where the steps do
        name = "step_epochs"
    return training.idle().get(name)


def is_start_epoch(name: str) -> bool:
    """Whether a hyperparameter names the epoch at which a memory or a main loss starts."""
    return name.rpartition(".")[2] in _EPOCHS_AFTER


def start_epoch_problem(name: str, earliest: Value, epochs: int) -> str | None:
    """The rule that a start epoch breaks if training ends before it; None if it holds.

    Args:
        name: name of the hyperparameter; see `is_start_epoch`.
        earliest: its smallest value.
        epochs: epochs of the training.
    """
    last = epochs - _EPOCHS_AFTER[name.rpartition(".")[2]]
    if float(earliest) <= last:
        return None
    return (
        f"{name} must be at most {last}, since training.epochs is {epochs}: what comes after it "
        "would never train"
    )


def _why_without_proxies(loss: str) -> str | None:
    """Why a loss ignores `PROXY_PARAMETERS`, in words; None if it uses them.

    A loss of another library may train parameters that its constructor does not show.
    """
    if any(term.is_external for term in parse_loss(loss).all_terms):
        return None
    return None if "proxies" in facts_of(loss).needs else f"{loss} has no proxies"


def _clips_proxies_alone(name: str, training: TrainingSettings) -> bool:
    is_clipped = training.clip_value > 0 and training.clipped == "loss"
    return is_clipped and name in ("clip_value", "clipped")
