"""Checks a study by facts about its losses, data sets and networks, and by combinations.

Facts come without torch: from search_spaces, from the data sets' `facts`, from file names. A rule
on values that were found wrong already is skipped.
"""

from podium.orchestrator.folder_names import NAME, NAME_RULE
from podium.orchestrator.study.configs import space_of
from podium.orchestrator.study.dataset_facts import dataset_facts
from podium.orchestrator.study.loss_facts import facts_of
from podium.orchestrator.study.study import Study, StudyLoss
from podium.orchestrator.study.unused_settings import (
    is_start_epoch,
    start_epoch_problem,
    why_unused,
)
from podium.orchestrator.study_parser.declared_differences import check_fairness
from podium.orchestrator.study_parser.problems import Problems, label
from podium.orchestrator.study_parser.protocol_crossing import check_crossing
from podium.orchestrator.study_parser.protocols import protocols_with_paths
from podium.orchestrator.study_parser.resources import check_budget
from podium.orchestrator.study_parser.search import check_sampler, check_try_first
from podium.orchestrator.study_parser.tournament import check_tournament
from podium.orchestrator.study_parser.trained_losses import TrainedLoss, trained_losses
from podium.orchestrator.study_parser.yaml_tree import Path
from podium.orchestrator.study_validation.images import check_images
from podium.orchestrator.study_validation.loss_needs import check_needs
from podium.orchestrator.study_validation.task import check_task
from podium.orchestrator.study_validation.training import (
    check_training_section,
    configs_of,
    why_unused_by_all,
)
from podium.search_spaces.training_parameters import RATES, TRAINING_SPACES
from podium.trainables.dataset_interface.class_splits import validation_counts
from podium.trainables.errors import TrialInputError
from podium.trainables.settings.training_settings import TRAINING_TYPES
from podium.trainables.settings.trial_settings import ProtocolSettings


def check_study(study: Study, problems: Problems) -> None:
    """Note everything that keeps ``study`` from being run."""
    check_name(study.name, problems)
    _check_spaces(study, problems)
    _check_data(study, problems)
    _check_search(study, problems)
    check_crossing(study, problems)
    check_images(study, problems)
    check_training_section(study, problems)
    check_needs(study, problems)
    _check_used(study, problems)
    check_task(study, problems)
    check_try_first(study, problems)
    check_sampler(study, problems)
    check_fairness(study, problems)
    check_tournament(study, problems)
    check_budget(study, problems)


def check_name(name: str, problems: Problems) -> None:
    """Note a name of a study that no folder can have."""
    if not NAME.fullmatch(name) and not problems.concern("study"):
        problems.add("study", f"study names a folder: {NAME_RULE}", got=name)


def _check_spaces(study: Study, problems: Problems) -> None:
    if problems.concern("search.tune"):
        return
    unknown = [name for name in study.search.tune if name not in TRAINING_SPACES]
    for name in unknown:
        path: Path = ("search", "tune", study.search.tune.index(name))
        problems.add(path, "unknown parameter to tune", got=name, choices=TRAINING_SPACES)
    if unknown or problems.concern("losses", "search.space"):
        return
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


def _check_data(study: Study, problems: Problems) -> None:
    labels: set[str] = set()
    protocols = protocols_with_paths(study, problems)
    for index, dataset in enumerate(study.datasets):
        path: Path = ("datasets", index)
        if problems.concern(path):
            continue
        if dataset.label in labels:
            rule = "the data sets of a study must differ: give one of them another label"
            problems.add(path, rule, got=dataset.label)
        if not NAME.fullmatch(dataset.label):
            problems.add(
                path, f"the label of a data set names folders: {NAME_RULE}", got=dataset.label
            )
        labels.add(dataset.label)
        try:
            num_classes = dataset_facts(dataset).num_train_classes
        except TrialInputError as error:
            problems.add(path, str(error))
            continue
        for protocol_path, protocol in protocols:
            _check_split(protocol_path, protocol, dataset.label, num_classes, problems)


def _check_split(
    path: Path, protocol: ProtocolSettings, dataset: str, num_classes: int, problems: Problems
) -> None:
    if protocol.trains_on_all:
        return
    names = {"val_fraction": protocol.val_fraction, "folds": protocol.folds}
    (name,) = [name for name, value in names.items() if value is not None] or ["classes_file"]
    parameter = (*path, name)
    try:
        validation_counts(num_classes, protocol)
    except TrialInputError as error:
        problems.add(parameter, f"{dataset}: {error}")


def _check_search(study: Study, problems: Problems) -> None:
    path = "search.early_stopping"
    kinds = [protocol.kind for protocol in study.protocols if protocol.num_folds == 1]
    if study.search.early_stopping.kind != "folds" or problems.concern("protocol", path):
        return
    if len(kinds) == len(study.protocols):
        problems.add(
            path,
            "search.early_stopping folds needs a protocol of several folds, such as kind kfold",
            got=", ".join(kinds),
        )


def _check_used(study: Study, problems: Problems) -> None:
    """Note values and ranges that change nothing, and start epochs after the last one."""
    rates = (f"training.{rate}" for rate in RATES)  # that spaces are made around
    if problems.concern("losses", "search.space", "search.tune", *rates):
        return
    items = trained_losses(study, problems)
    for index, loss in enumerate(study.losses):
        path: Path = ("losses", index)
        of_loss = [item for item in items if item.loss == loss.name]
        configs = [config for item in of_loss for config in configs_of(study, item)]
        for section, names in (("values", loss.values), ("space", loss.own_parameters)):
            for name in names:
                key_path = (*path, section, name)
                if name in TRAINING_TYPES:
                    reason = why_unused_by_all(study, of_loss, name, key_path, problems)
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
    configs = [{**config, **loss.values} for config in configs_of(study, item)]
    for name in filter(is_start_epoch, item.values):
        key_path: Path = (*path, "values", name)
        earliest = min(config[name] for config in configs)
        rule = start_epoch_problem(name, earliest, item.training.epochs)
        if rule and not problems.concern("training.epochs", key_path):
            problems.add(key_path, rule, got=earliest)
