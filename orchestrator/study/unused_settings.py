"""Finds hyperparameters and settings that a user sets and that no trial would use."""

from collections.abc import Iterable, Mapping
from functools import cached_property

from podium.orchestrator.study.blocks import dataset_of
from podium.orchestrator.study.configs import (
    extreme_configs,
    space_of,
    training_of,
    unsearched_values,
)
from podium.orchestrator.study.loss_facts import facts_of
from podium.orchestrator.study.study import Block, Study
from podium.search_spaces.parameters import Value
from podium.trainables.dataset_interface.load_dataset import dataset_facts, has_own_size
from podium.trainables.network.backbone_facts import backbone_facts
from podium.trainables.settings.loss_expression import parse_loss
from podium.trainables.settings.training_settings import TrainingSettings
from podium.trainables.settings.trial_settings import DatasetSettings
from podium.trainables.settings.unused_settings import unused_settings

# Hyperparameters that name a start epoch -> how many epochs must follow it.
_EPOCHS_AFTER = {"memory_start_epoch": 0, "pretraining_epochs": 1}


class TrainedLoss:
    """One loss of a study in one block, outside of searches.

    Attributes:
        space: what searches vary.
        configs: values of all hyperparameters, then with one at an end of what is searched.
    """

    def __init__(self, study: Study, block: Block, loss: str) -> None:
        values = unsearched_values(study, block, loss)
        self.block, self.loss, self.dataset = block, loss, dataset_of(study, block)
        self.space = space_of(study, loss, values)
        self.training = training_of(study, block).with_values(values)
        self.configs = [*extreme_configs(values, self.space)]

    @cached_property
    def unused(self) -> dict[str, str]:
        """As `unused_by`."""
        found = self.loss, self.training, self.configs
        return unused_by(*found, dataset=self.dataset, backbone=self.block.backbone)


def unused_by(
    loss: str,
    training: TrainingSettings,
    configs: Iterable[Mapping[str, Value]],
    *,
    dataset: DatasetSettings,
    backbone: str,
) -> dict[str, str]:
    """Hyperparameter or training setting that changes nothing in any config -> why, in words.

    Raises:
        TrialInputError: there is no such data set or backbone.
    """
    facts, network, configs = dataset_facts(dataset), backbone_facts(backbone), list(configs)
    absent = {
        name: f"it exists only if {condition}"
        for name, condition in facts_of(loss).conditions.items()
        if not any(condition.holds(config) for config in configs)
    }
    return absent | unused_settings(
        training,
        dataset=dataset.label,
        has_vectors=facts.num_features is not None,
        has_own_size=has_own_size(dataset),
        backbone=backbone,
        has_map=network is None or network.has_map,
        no_proxies=_why_no_proxies(loss, configs),
    )


def start_epoch_problem(
    name: str, earliest: Value, epochs: int, key: str = "training.epochs"
) -> str | None:
    """The rule that a start epoch breaks if training ends before it; None if it holds.

    Other hyperparameters break no rule. The key of a study says how many epochs there are.
    """
    after = _EPOCHS_AFTER.get(name.rpartition(".")[2])
    if after is None or float(earliest) <= epochs - after:
        return None
    return (
        f"{name} must be at most {epochs - after}, since {key} is {epochs}: what comes "
        "after it would never train"
    )


def _why_no_proxies(loss: str, configs: Iterable[Mapping[str, Value]]) -> str:
    """Why settings of proxies change nothing in any of these configs; empty if they do."""
    facts = facts_of(loss)
    # A loss of another library may train parameters that its constructor does not show.
    is_external = any(term.is_external for term in parse_loss(loss).all_terms)
    if is_external or facts.has_proxies(configs):
        return ""
    if not facts.proxies_if:
        return f"{loss} has no proxies"
    condition = " or ".join(map(str, facts.proxies_if))
    return f"{loss} trains parameters of its own only if {condition}"
