"""Checks a study by facts about its losses, data sets and networks, and by combinations.

Facts come without torch: from search_spaces, from the data sets' `facts`, from file names. A rule
on values that were found wrong already is skipped.
"""

from collections.abc import Callable

from podium.orchestrator.folder_names import NAME, NAME_RULE
from podium.orchestrator.study.configs import space_of
from podium.orchestrator.study.loss_facts import facts_of
from podium.orchestrator.study.study import Study, StudyLoss
from podium.orchestrator.study.unused_settings import (
    start_epoch_problem,
    why_unused,
)
from podium.orchestrator.study_parser.problems import Problems, label
from podium.orchestrator.study_parser.yaml_tree import Path
from podium.orchestrator.study_validation import comparison, searches, training
from podium.orchestrator.study_validation.trained_losses import TrainedLoss, trained_losses
from podium.search_spaces.training_parameters import RATES, TRAINING_SPACES
from podium.trainables.dataset_interface.load_dataset import dataset_facts
from podium.trainables.errors import TrialInputError
from podium.trainables.settings.training_settings import TRAINING_TYPES


def check_study(study: Study, problems: Problems) -> None:
    """Note everything that keeps ``study`` from being run."""
    for check, reads in _RULES:
        if not problems.concern(*reads):
            check(study, problems)


def _check_tune(study: Study, problems: Problems) -> None:
    for index, name in enumerate(study.search.tune):
        if name not in TRAINING_SPACES:
            path = ("search", "tune", index)
            problems.add(path, "unknown parameter to tune", got=name, choices=TRAINING_SPACES)


def _check_spaces(study: Study, problems: Problems) -> None:
    for index, loss in enumerate(study.losses):
        facts = facts_of(loss.name)
        if loss.space is None and study.search.space not in facts.spaces:
            rule = f"search.space must be a space of {loss.name}"
            problems.add("search.space", rule, got=study.search.space, choices=facts.spaces)
        elif not space_of(study, loss.name).parameters:
            problems.add(("losses", index), f"{loss.name} has nothing to search: see search.tune")
        # A search tries the published default first, so there has to be one.
        values = {**facts.defaults, **loss.values}
        if missing := [name for name in facts.parameters if name not in values]:
            rule = f"{loss.name} has no default for {', '.join(missing)}: give one under values"
            problems.add(("losses", index), rule)


def _check_datasets(study: Study, problems: Problems) -> None:
    labels: set[str] = set()
    for index, dataset in enumerate(study.datasets):
        path = ("datasets", index)
        if problems.concern(path):
            continue
        if dataset.label in labels:
            rule = "the data sets of a study must differ: give one of them another label"
            problems.add(path, rule, got=dataset.label)
        if not NAME.fullmatch(dataset.label):
            rule = f"the label of a data set names folders: {NAME_RULE}"
            problems.add(path, rule, got=dataset.label)
        labels.add(dataset.label)
        try:
            dataset_facts(dataset)
        except TrialInputError as error:
            problems.add(path, str(error))


def _check_used(study: Study, problems: Problems) -> None:
    """Note values and ranges that change nothing, and start epochs after the last one."""
    items = trained_losses(study, problems)
    for index, loss in enumerate(study.losses):
        path: Path = ("losses", index)
        of_loss = [item for item in items if item.loss == loss.name]
        configs = [config for item in of_loss for config in training.configs_of(study, item)]
        for section, names in (("values", loss.values), ("space", loss.own_parameters)):
            for name in names:
                key_path = (*path, section, name)
                if name in TRAINING_TYPES:
                    reason = training.why_unused_by_all(study, of_loss, name, key_path, problems)
                else:
                    reason = why_unused(loss.name, name, configs)
                if reason:
                    problems.add(key_path, f"{label(key_path)} {reason}")
        for item in of_loss:
            _check_epochs(study, loss, item, path, problems)


def _check_epochs(
    study: Study, loss: StudyLoss, item: TrainedLoss, path: Path, problems: Problems
) -> None:
    """Note memories and main losses that would start after the last epoch in every config."""
    configs = [{**config, **loss.values} for config in training.configs_of(study, item)]
    for name in item.values:
        key_path: Path = (*path, "values", name)
        earliest = min(config[name] for config in configs)
        rule = start_epoch_problem(name, earliest, item.training.epochs)
        if rule and not problems.concern("training.epochs", key_path):
            problems.add(key_path, rule, got=earliest)


_SPACES = ("losses", "search.space", "search.tune")
_BATCHES = ("training.batch_size", "training.samples_per_class", "training.sampler")
_FOLDERS = ("protocol", "datasets", "backbones", "losses", "image_sizes")
_TRAINED = ("datasets", "backbones", "losses", "search", "training", "protocol", "image_sizes")

# In this order: rule, and the keys it reads. While any of these is wrong the rule is skipped.
_RULES: tuple[tuple[Callable[[Study, Problems], None], tuple[str, ...]], ...] = (
    (_check_tune, ("search.tune",)),
    (_check_spaces, _SPACES),
    (_check_datasets, ()),
    (searches.check_classes, ()),
    (searches.check_folds, ("protocol", "search.early_stopping")),
    (searches.check_final, ("final",)),
    (searches.check_splits, ("protocol", "search.splits", "search.repeats", "final")),
    (searches.check_folders, _FOLDERS),
    (training.check_sizes, ("backbones", "image_sizes", "training.recipe", "datasets")),
    (training.check_images, ("backbones",)),
    (training.check_samplers, ()),
    (training.check_grace, ("search.early_stopping", "training.epochs", "training.recipe")),
    (training.check_batches, _BATCHES),
    (training.check_unused_training, ()),
    (training.check_balance, ("training.sampler", *_SPACES)),
    (training.check_class_text, ("losses",)),
    (training.check_mode, ("training.mode", "datasets", *_SPACES)),
    (_check_used, (*_SPACES, *(f"training.{rate}" for rate in RATES))),  # spaces lie around rates
    (comparison.check_task, ()),
    (searches.check_sharing, ("search.sampler", "search.shared_configs")),
    (searches.check_trials, ("search.sampler", *_SPACES)),
    (comparison.check_fairness, _TRAINED),
    (comparison.check_test, ("losses", "tournament.test")),
    (comparison.check_against, ("losses", "tournament.against")),
    (comparison.check_score, ("tournament.score", "metrics", "datasets")),
    (comparison.check_groups, ("losses", "tournament.groups")),
    (searches.check_budget, ("budget",)),
)
