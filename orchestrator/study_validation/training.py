"""Checks how a study trains: settings, batches, images, and whether its losses get their needs."""

import itertools
from collections.abc import Mapping, Sequence

from podium.orchestrator.study.configs import training_of
from podium.orchestrator.study.defaults import has_image_files
from podium.orchestrator.study.loss_facts import facts_of
from podium.orchestrator.study.study import Block, Study
from podium.orchestrator.study.unused_settings import TrainedLoss, start_epoch_problem
from podium.orchestrator.study_parser.problems import Problems
from podium.orchestrator.study_parser.yaml_tree import Path
from podium.trainables.dataset_interface.load_dataset import dataset_facts
from podium.trainables.errors import TrialInputError
from podium.trainables.network.backbone_facts import backbone_facts, fine_tuning_problem
from podium.trainables.network.timm_facts import timm_facts
from podium.trainables.registry import load
from podium.trainables.settings.frozen_feature_rules import (
    FROZEN_FEATURES,
    input_problem,
    mode_problem,
)
from podium.trainables.settings.loss_expression import prefix_lengths
from podium.trainables.settings.training_settings import balanced_samplers
from podium.trainables.settings.trial_settings import DatasetSettings
from podium.trainables.tasks import loss_problem, sampler_problem


def check_training(study: Study, problems: Problems) -> None:
    """Note trainings that no trial could do, and settings that none would use."""
    networks = itertools.product(study.datasets, study.backbones)
    dim = study.embedding_dims[0]  # which does not matter
    blocks = [
        Block(dataset=dataset.label, backbone=backbone.name, embedding_dim=dim)
        for dataset, backbone in networks
    ]
    items = [TrainedLoss(study, block, loss) for block in blocks for loss in study.loss_names]
    _check_images(study, problems)
    _check_batches(study, items, problems)
    _check_unused(study, items, problems)
    for item in items:
        _check_loss(study, item, problems)
    _check_task(study, items, problems)


def _check_batches(study: Study, items: Sequence[TrainedLoss], problems: Problems) -> None:
    """Note impossible sizes of balanced batches, and epochs after the last one."""
    _check_epochs(study, min((item.training.epochs for item in items), default=1), problems)
    trainings = [item.training for item in items if item.training.is_balanced]
    for size, per_class in dict.fromkeys(
        (it.batch_size, it.samples_per_class) for it in trainings
    ):
        if per_class < 2:
            rule = "must be at least 2: a positive needs a partner"
            problems.at("training.samples_per_class", rule, got=per_class)
        elif size < 2 * per_class or size % per_class:
            rule = f"must be a multiple of samples_per_class ({per_class}), of 2 classes or more"
            problems.at("training.batch_size", rule, got=size)


def _check_epochs(study: Study, epochs: int, problems: Problems) -> None:
    """Note searches and first rungs that are longer than the shortest training."""
    stopping, searched = study.search.early_stopping, study.search.epochs
    if searched is not None and searched > epochs:
        rule = f"must be at most training.epochs, which is {epochs}"
        problems.at("search.epochs", rule, got=searched)
    elif searched is not None and "all" in study.final.train_on:
        rule = "cannot be combined with final.train_on all, whose epochs the search selects"
        problems.at("search.epochs", rule, got=searched)
    most, key = _searched_epochs(study, epochs)
    if stopping.kind == "asha" and stopping.grace_epochs > most:
        rule = f"grace_epochs must be at most {key}, which is {most}"
        path = "search.early_stopping.grace_epochs"
        problems.add(path, rule, got=stopping.grace_epochs)


def _searched_epochs(study: Study, epochs: int) -> tuple[int, str]:
    """Epochs of trials of searches, and the key that says so, where finals have ``epochs``."""
    searched = study.search.epochs
    return (epochs, "training.epochs") if searched is None else (searched, "search.epochs")


def _check_unused(study: Study, items: Sequence[TrainedLoss], problems: Problems) -> None:
    """Note every setting, of all losses or of one, that changes nothing in any block."""
    given: list[tuple[Path, str | None, Mapping[str, object]]] = [
        (("training",), None, study.training.overrides),
        (("search", "tune"), None, dict.fromkeys(study.search.tune)),
    ]
    for index, loss in enumerate(study.losses):
        given.append((("losses", index, "values"), loss.name, loss.values))
        given.append((("losses", index, "space"), loss.name, loss.own_parameters))
    for section, name, settings in given:
        reasons = [item.unused for item in items if name in (None, item.loss)]
        for setting in settings.keys() & set.intersection(*map(set, reasons)):
            why = "; ".join(dict.fromkeys(unused[setting] for unused in reasons))
            is_value = section[-1] in ("training", "values")
            shown = {"got": settings[setting]} if is_value else {}
            problems.at((*section, setting), f"changes nothing: {why}", **shown)


def _check_loss(study: Study, item: TrainedLoss, problems: Problems) -> None:
    """Note parts that would start after the last epoch, and needs that the training lacks."""
    path, needs = loss_path(study, item.loss), facts_of(item.loss).needs
    given, dataset = study.loss(item.loss).values, item.dataset
    for name in item.configs[0]:
        earliest = given.get(name, min(config[name] for config in item.configs))
        rule = start_epoch_problem(name, earliest, *_searched_epochs(study, item.training.epochs))
        if rule and not problems.concern((*path, "values", name)):
            problems.add((*path, "values", name), rule, got=earliest)
    _check_prefixes(study, item, problems)
    has_vectors = dataset_facts(dataset).num_features is not None
    problem = mode_problem(item.training.mode, item.loss, needs, has_vectors=has_vectors)
    if problem and not problems.concern(path):
        problems.add(path, problem)
    problem = fine_tuning_problem(item.block.backbone, item.training)
    if problem and not problems.concern("training"):
        problems.add("training", problem)
    if "balanced" in needs and not item.training.is_balanced:
        rule = (
            f"must be {' or '.join(balanced_samplers())}: {item.loss} compares images of a class, "
            "of which a random batch has hardly any"
        )
        if not problems.concern("training.sampler"):
            problems.at("training.sampler", rule, got=item.training.sampler)
    path = ("datasets", study.datasets.index(dataset))
    has_text = "class_text" not in needs or "class_text" in dataset.options
    if not has_text and not problems.concern(path):
        rule = (
            f"{item.loss} needs a vector for the name of each class: give {dataset.label} "
            "the option class_text, a file that `podium datasets text` makes"
        )
        problems.add(path, rule)


def _check_prefixes(study: Study, item: TrainedLoss, problems: Problems) -> None:
    path = loss_path(study, item.loss)
    if problems.concern(path):
        return
    try:
        for config in item.configs:
            prefix_lengths(item.loss, config, min(study.embedding_dims))
    except TrialInputError as error:
        problems.add(path, str(error))


def loss_path(study: Study, loss: str) -> Path:
    """Path to a loss of the study."""
    return ("losses", study.loss_names.index(loss))


def _check_task(study: Study, items: Sequence[TrainedLoss], problems: Problems) -> None:
    """Note data sets of different tasks, and losses or batches for another task."""
    tasks = {dataset.label: dataset_facts(dataset).task for dataset in study.datasets}
    if len(set(tasks.values())) > 1:
        rule = "the data sets of a study must have one task to be ranked together"
        problems.add("datasets", rule, got=tasks)
        return
    dataset, task = next(iter(tasks.items()))
    for loss in study.loss_names:
        if problem := loss_problem(loss, facts_of(loss).needs, dataset, task):
            problems.add(loss_path(study, loss), problem)
    trainings = {(item.training.sampler, item.training.batch_size) for item in items}
    for sampler, size in sorted(trainings):
        found = load("batch_samplers", sampler)
        if problem := sampler_problem(sampler, found.needs, dataset, task):
            problems.add("training.sampler", problem)
        if size < found.smallest_batch and not problems.concern("training.batch_size"):
            rule = f"must be at least {found.smallest_batch} for {sampler}"
            problems.at("training.batch_size", rule, got=size)


def _check_images(study: Study, problems: Problems) -> None:
    """Note every data set that cannot be trained on with the study's networks and recipe."""
    for dataset in study.datasets:
        features = dataset_facts(dataset).num_features
        for index, backbone in enumerate(study.backbones):
            block = Block(dataset=dataset.label, backbone=backbone.name, embedding_dim=None)
            training = training_of(study, block)
            network = backbone_facts(backbone.name)
            problem = input_problem(
                dataset=dataset.label,
                num_features=features,
                backbone=backbone.name,
                takes_features=network is not None and network.takes_features,
                mode=training.mode,
                image_size=None,
            )
            if problem:
                problems.add(("backbones", index), problem)
            is_augmented = features is None and training.mode != FROZEN_FEATURES
            if is_augmented and training.transform and not problems.concern("training"):
                _check_transform(study, dataset, training.transform, problems)
            is_for_files = training.augmentation != "shift"
            fits = training.augmentation == "none" or is_for_files == has_image_files(dataset)
            if is_augmented and not fits and not problems.concern("training"):  # once for all
                rule = (
                    f"augmentation {training.augmentation} does not go with {dataset.label}: set "
                    "training.augmentation to "
                    + (
                        "random_resized_crop, random_crop or none, for image files"
                        if has_image_files(dataset)
                        else "shift or none, for images of one size"
                    )
                )
                key = "augmentation" if "augmentation" in study.training.overrides else "recipe"
                problems.add(("training", key), rule, got=getattr(training, key))


def _check_transform(
    study: Study, dataset: DatasetSettings, transform: str, problems: Problems
) -> None:
    """Note a transform that is not there, or fails on a black image."""
    import torch  # only transforms need it

    from podium.trainables.batches.own_transform import transform_at, transformed

    side = dataset_facts(dataset).side or (*study.image_sizes, 224)[0]
    images_BCHW = torch.zeros(1, 3 if has_image_files(dataset) else 1, side, side).byte()
    try:
        transformed(transform, transform_at(transform), images_BCHW, study.seed)
    except TrialInputError as error:
        problems.add("training.transform", str(error))


def check_sizes(study: Study, problems: Problems) -> None:
    """Note sizes that are missing, that no data set needs, or that a network does not take."""
    sizes = study.image_sizes
    files = [dataset.label for dataset in study.datasets if has_image_files(dataset)]
    others = [dataset.label for dataset in study.datasets if not has_image_files(dataset)]
    if sizes and others and (len(sizes) > 1 or not files):
        own = f"images of {', '.join(others)} have a size of their own"
        problems.at("image_sizes", f"are for data sets of image files; {own}", got=list(sizes))
    if files and not sizes:
        recipe = f"the recipe {study.training.recipe} has no default size"
        problems.at("image_sizes", f"must be given: {files[0]} has image files, and {recipe}")
    for backbone in study.backbones:
        network = backbone_facts(backbone.name) or timm_facts(backbone.name)
        for index, size in enumerate(sizes):
            if network and (problem := network.size_problem(backbone.name, size)):
                problems.add(("image_sizes", index), problem)
