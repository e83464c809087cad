"""Finds hyperparameters and settings that a user sets and that no trial would use."""

from collections.abc import Iterable, Mapping

from podium.orchestrator.study.loss_facts import facts_of
from podium.search_spaces.parameters import Value
from podium.trainables.dataset_interface.load_dataset import dataset_facts, has_own_size
from podium.trainables.network.backbone_facts import backbone_facts
from podium.trainables.settings.loss_expression import parse_loss
from podium.trainables.settings.training_settings import TrainingSettings
from podium.trainables.settings.trial_settings import DatasetSettings
from podium.trainables.settings.unused_settings import Surroundings, why_unused_setting

# Hyperparameters that name a start epoch -> how many epochs must follow it.
_EPOCHS_AFTER = {"memory_start_epoch": 0, "pretraining_epochs": 1}


def why_unused(loss: str, name: str, configs: Iterable[Mapping[str, Value]]) -> str | None:
    """Why a hyperparameter of ``loss`` changes nothing, in words; None if it changes something.

    Args:
        loss: name of the loss in a study.
        name: name of the hyperparameter; for one of training see `why_unused_training`.
        configs: values of all hyperparameters; the hyperparameter must exist in one config.
    """
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
    configs: Iterable[Mapping[str, Value]],
) -> str | None:
    """Why a setting changes nothing, in words; None if it changes something.

    Args:
        name: name of the setting.
        training: all training settings.
        dataset: data set that is trained on.
        backbone: name of the backbone.
        loss: name of the loss in a study; None if it is not known.
        configs: values of all its hyperparameters; the setting must act in one config.

    Raises:
        TrialInputError: there is no such data set or backbone.
    """
    if name == "step_factor" and training.step_epochs:  # acts where the steps do
        name = "step_epochs"
    facts, network = dataset_facts(dataset), backbone_facts(backbone)
    surroundings = Surroundings(
        training=training,
        dataset=dataset.label,
        has_vectors=facts.num_features is not None,
        has_own_size=has_own_size(dataset),
        backbone=backbone,
        has_map=network is None or network.has_map,
        no_proxies="" if loss is None else _why_no_proxies(loss, configs),
    )
    return why_unused_setting(name, surroundings)


def start_epoch_problem(name: str, earliest: Value, epochs: int) -> str | None:
    """The rule that a start epoch breaks if training ends before it; None if it holds.

    Args:
        name: name of a hyperparameter; one that is no start epoch breaks no rule.
        earliest: its smallest value.
        epochs: epochs of the training.
    """
    after = _EPOCHS_AFTER.get(name.rpartition(".")[2])
    if after is None or float(earliest) <= epochs - after:
        return None
    return (
        f"{name} must be at most {epochs - after}, since training.epochs is {epochs}: what comes "
        "after it would never train"
    )


def _why_no_proxies(loss: str, configs: Iterable[Mapping[str, Value]]) -> str:
    """Why settings of proxies change nothing in any of these configs; empty if they do.

    A loss of another library may train parameters that its constructor does not show.
    """
    is_external = any(term.is_external for term in parse_loss(loss).all_terms)
    facts = facts_of(loss)
    if is_external or facts.has_proxies(configs):
        return ""
    if not facts.proxies_if:
        return f"{loss} has no proxies"
    condition = " or ".join(map(str, facts.proxies_if))
    return f"{loss} trains parameters of its own only if {condition}"
