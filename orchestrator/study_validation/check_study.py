"""Checks a study by facts about its losses, data sets and networks, and by combinations.

Facts come without torch: from search_spaces, from the data sets' `facts`, from file names.
"""

import math

from podium.orchestrator.folder_names import NAME, NAME_RULE
from podium.orchestrator.study.blocks import NUM_FINALISTS
from podium.orchestrator.study.configs import space_of
from podium.orchestrator.study.loss_facts import facts_of
from podium.orchestrator.study.study import MAX_TRIALS, Study
from podium.orchestrator.study_parser.problems import Problems
from podium.orchestrator.study_validation import comparison, searches, training
from podium.orchestrator.study_validation.training import trained_losses
from podium.search_spaces.training_parameters import TRAINING_SPACES
from podium.trainables.dataset_interface.load_dataset import dataset_facts
from podium.trainables.errors import TrialInputError

# Losses of 50, data sets, backbones, dimensions and protocols of 10 each are half of it.
_MAX_SEARCHES = 1_000_000


def check_names(study: Study, problems: Problems) -> None:
    """Note names that do not exist, and data sets that are not as they are said to be.

    Args:
        study: study as far as it could be read.
        problems: collects what is wrong, and knows what was found wrong in reading.
    """
    for index, name in enumerate(study.search.tune):
        if name not in TRAINING_SPACES:
            path = ("search", "tune", index)
            problems.add(path, "unknown parameter to tune", got=name, choices=TRAINING_SPACES)
    _check_datasets(study, problems)
    if not problems.concern("losses", "search.tune", "search.space"):
        _check_spaces(study, problems)
    if not problems.concern("datasets", "backbones", "image_sizes", "training.recipe"):
        training.check_sizes(study, problems)


def _check_spaces(study: Study, problems: Problems) -> None:
    for index, loss in enumerate(study.losses):
        facts = facts_of(loss.name)
        if loss.space is None and study.search.space not in facts.spaces:
            rule = f"must be a space of {loss.name}"
            problems.at("search.space", rule, got=study.search.space, choices=facts.spaces)
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


def check_size(study: Study, problems: Problems) -> None:
    """Note a study that is too large to be planned or checked."""
    counts = {
        "data sets": len(study.datasets),
        "backbones": len(study.backbones),
        "embedding dimensions": len(study.embedding_dims),
        "image sizes": max(1, len(study.image_sizes)),
        "losses": len(study.loss_names),
        "protocols": len(study.protocols),
        "repeats": study.search.repeats,
    }
    num_searches = math.prod(counts.values())
    protocols = [*study.protocols, study.final.protocol]
    folds = max(protocol.num_folds for protocol in protocols if protocol is not None)
    # With those of baselines.
    num_finals = study.final.seeds * (NUM_FINALISTS + 1) * (folds + 1)
    num_trials = num_searches * (study.search.trials + num_finals)
    if num_searches > _MAX_SEARCHES:
        factors = " x ".join(f"{count} {name}" for name, count in counts.items() if count > 1)
        has = f"{num_searches} searches ({factors})"
        problems.add((), f"a study must have at most {_MAX_SEARCHES} searches, and this has {has}")
    elif num_trials > MAX_TRIALS:
        rule = f"a study must have at most {MAX_TRIALS} trials, and this has up to {num_trials}"
        problems.add((), f"{rule} in {num_searches} searches: lower search.trials or final.seeds")


def check_study(study: Study, problems: Problems) -> None:
    """Note every combination of values that keeps ``study`` from being run.

    Args:
        study: study with values that are right each by itself.
        problems: collects what is wrong.
    """
    for check in _RULES:
        check(study, problems)
    items = trained_losses(study)
    for check_items in _RULES_OF_TRAINING:
        check_items(study, items, problems)


_RULES = (
    searches.check_classes,
    searches.check_folds,
    searches.check_final,
    searches.check_splits,
    searches.check_folders,
    searches.check_sharing,
    training.check_images,
    training.check_class_text,
    comparison.check_test,
    comparison.check_against,
    comparison.check_score,
    comparison.check_groups,
    searches.check_budget,
)
_RULES_OF_TRAINING = (
    training.check_grace,
    training.check_batches,
    training.check_settings,
    training.check_balance,
    training.check_mode,
    training.check_values,
    training.check_epochs,
    comparison.check_task,
    searches.check_trials,
    comparison.check_fairness,
)
