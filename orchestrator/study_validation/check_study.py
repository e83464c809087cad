"""Checks a study by facts about its losses, data sets and networks, and by combinations.

Facts come without torch: from search_spaces, from the data sets' `facts`, from file names. A rule
on values that were found wrong already is skipped.
"""

from collections.abc import Callable, Sequence

from podium.orchestrator.folder_names import NAME, NAME_RULE
from podium.orchestrator.study.configs import space_of
from podium.orchestrator.study.loss_facts import facts_of
from podium.orchestrator.study.study import Study
from podium.orchestrator.study_parser.problems import Problems
from podium.orchestrator.study_validation import comparison, searches, training
from podium.orchestrator.study_validation.trained_losses import TrainedLoss, trained_losses
from podium.search_spaces.training_parameters import RATES, TRAINING_SPACES
from podium.trainables.dataset_interface.load_dataset import dataset_facts
from podium.trainables.errors import TrialInputError


def check_study(study: Study, problems: Problems) -> None:
    """Note everything that keeps ``study`` from being run."""
    for check, reads in _RULES:
        if not problems.concern(*reads):
            check(study, problems)
    items = trained_losses(study, problems)
    for check_items, reads in _RULES_OF_TRAINING:
        if not problems.concern(*reads):
            check_items(study, items, problems)


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


_Rule = Callable[[Study, Problems], None]
_RuleOfTraining = Callable[[Study, Sequence[TrainedLoss], Problems], None]

_SPACES = ("losses", "search.space", "search.tune")
_BATCHES = ("training.batch_size", "training.samples_per_class", "training.sampler")
_FOLDERS = ("protocol", "datasets", "backbones", "losses", "image_sizes")
_TRAINED = ("datasets", "backbones", "losses", "search", "training", "protocol", "image_sizes")
_SETTINGS = ("datasets", "backbones", "training.sampler")
_USED = (*_SETTINGS, *_SPACES, *(f"training.{rate}" for rate in RATES))  # spaces lie around rates

# In this order: rule, and the keys it reads. While any of these is wrong the rule is skipped.
_RULES: tuple[tuple[_Rule, tuple[str, ...]], ...] = (
    (_check_tune, ("search.tune",)),
    (_check_spaces, _SPACES),
    (_check_datasets, ()),
    (searches.check_classes, ()),
    (searches.check_folds, ("protocol", "search.early_stopping")),
    (searches.check_final, ("final",)),
    (searches.check_splits, ("protocol", "search.splits", "search.repeats", "final")),
    (searches.check_folders, _FOLDERS),
    (searches.check_sharing, ("search.sampler", "search.shared_configs")),
    (training.check_sizes, ("backbones", "image_sizes", "training.recipe", "datasets")),
    (training.check_images, ("backbones",)),
    (training.check_class_text, ("losses",)),
    (comparison.check_test, ("losses", "tournament.test")),
    (comparison.check_against, ("losses", "tournament.against")),
    (comparison.check_score, ("tournament.score", "metrics", "datasets")),
    (comparison.check_groups, ("losses", "tournament.groups")),
    (searches.check_budget, ("budget",)),
)
_RULES_OF_TRAINING: tuple[tuple[_RuleOfTraining, tuple[str, ...]], ...] = (
    (training.check_samplers, ("training.sampler",)),
    (training.check_grace, ("search.early_stopping", "training.epochs", "training.recipe")),
    (training.check_batches, _BATCHES),
    (training.check_settings, _SETTINGS),
    (training.check_balance, ("training.sampler", *_SPACES)),
    (training.check_mode, ("training.mode", "datasets", *_SPACES)),
    (training.check_values, _USED),
    (training.check_epochs, ("training.epochs", *_SPACES)),
    (comparison.check_task, ()),
    (searches.check_trials, ("search.sampler", "search.trials", "search.warm_start", *_SPACES)),
    (comparison.check_fairness, _TRAINED),
)
