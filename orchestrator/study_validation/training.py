"""Checks how a study trains: settings, batches, images, and whether its losses get their needs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from podium.orchestrator.study.blocks import dataset_of
from podium.orchestrator.study.configs import (
    extreme_configs,
    space_of,
    training_of,
    unsearched_values,
)
from podium.orchestrator.study.defaults import has_image_files
from podium.orchestrator.study.loss_facts import facts_of
from podium.orchestrator.study.study import Block, Study
from podium.orchestrator.study.unused_settings import start_epoch_problem, unused_by
from podium.orchestrator.study_parser.problems import Problems
from podium.orchestrator.study_parser.yaml_tree import Path
from podium.search_spaces.parameters import Value
from podium.trainables.dataset_interface.load_dataset import dataset_facts
from podium.trainables.network.backbone_facts import backbone_facts
from podium.trainables.network.timm_facts import timm_facts
from podium.trainables.settings.frozen_feature_rules import (
    FROZEN_FEATURES,
    input_problem,
    mode_problem,
)
from podium.trainables.settings.training_settings import TrainingSettings, balanced_samplers
from podium.trainables.settings.trial_settings import DatasetSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedLoss:
    """One loss in one block.

    Attributes:
        block: block, whose embedding dimension does not matter, without an image size.
        loss: name of the loss.
        training: training settings outside of searches.
        configs: values of all hyperparameters: first those outside of searches, then these with
            one parameter at an end of what is searched.
    """

    block: Block
    loss: str
    training: TrainingSettings
    configs: Sequence[Mapping[str, Value]]


def trained_losses(study: Study) -> tuple[TrainedLoss, ...]:
    """Every loss in one block of each data set and backbone."""
    dim = study.embedding_dims[0]
    return tuple(
        TrainedLoss(
            block=block,
            loss=loss,
            training=training_of(study, block).with_values(values),
            configs=[*extreme_configs(values, space_of(study, loss, values))],
        )
        for dataset in study.datasets
        for backbone in study.backbones
        for block in [Block(dataset=dataset.label, backbone=backbone.name, embedding_dim=dim)]
        for loss in study.loss_names
        for values in [unsearched_values(study, block, loss)]
    )


def unused_by_all(study: Study, items: Iterable[TrainedLoss]) -> dict[str, str]:
    """Hyperparameter or setting that changes nothing for any of ``items`` -> why, in words."""
    found = [
        unused_by(
            item.loss,
            item.training,
            item.configs,
            dataset=dataset_of(study, item.block),
            backbone=item.block.backbone,
        )
        for item in items
    ]
    names = set[str]().union(*found).intersection(*found)
    return {name: "; ".join(dict.fromkeys(reasons[name] for reasons in found)) for name in names}


def check_grace(study: Study, items: Sequence[TrainedLoss], problems: Problems) -> None:
    """Note a stopping rule whose first epoch comes after the last one of a training."""
    grace = study.search.early_stopping.grace_epochs
    epochs = min((item.training.epochs for item in items), default=grace)
    if study.search.early_stopping.kind == "asha" and grace > epochs:
        rule = f"grace_epochs must be at most training.epochs, which is {epochs}"
        problems.add("search.early_stopping.grace_epochs", rule, got=grace)


def check_batches(study: Study, items: Sequence[TrainedLoss], problems: Problems) -> None:
    """Note impossible sizes of balanced batches; other samplers take any size."""
    trainings = [item.training for item in items if item.training.is_balanced]
    for size, per_class in dict.fromkeys(
        (it.batch_size, it.samples_per_class) for it in trainings
    ):
        if per_class < 2:
            rule = "must be at least 2: a positive needs a partner"
            problems.at("training.samples_per_class", rule, got=per_class)
        elif size < 2 * per_class or size % per_class:
            rule = (
                f"must be a multiple of samples_per_class ({per_class}) that holds at least 2"
                " classes"
            )
            problems.at("training.batch_size", rule, got=size)


def check_settings(study: Study, items: Sequence[TrainedLoss], problems: Problems) -> None:
    """Note every setting, given or tuned, that changes nothing for any loss in any block."""
    unused = unused_by_all(study, items)
    _note_unused(("training",), study.training.overrides, unused, problems)
    for index, name in enumerate(study.search.tune):
        if name in unused:
            path = ("search", "tune", index)
            problems.at(path, f"changes nothing: {unused[name]}", got=name)


def check_values(study: Study, items: Sequence[TrainedLoss], problems: Problems) -> None:
    """Note values and ranges of single losses that change nothing."""
    for index, loss in enumerate(study.losses):
        unused = unused_by_all(study, [item for item in items if item.loss == loss.name])
        _note_unused(("losses", index, "values"), loss.values, unused, problems)
        _note_unused(("losses", index, "space"), loss.own_parameters, unused, problems)


def _note_unused(
    section: Path, given: Mapping[str, object], unused: Mapping[str, str], problems: Problems
) -> None:
    for name, value in given.items():
        if name in unused:
            shown = {} if section[-1] == "space" else {"got": value}
            problems.at((*section, name), f"changes nothing: {unused[name]}", **shown)


def check_epochs(study: Study, items: Sequence[TrainedLoss], problems: Problems) -> None:
    """Note memories and main losses that would start after the last epoch in every config."""
    for item in items:
        given = study.loss(item.loss).values
        for name in item.configs[0]:
            path: Path = ("losses", study.loss_names.index(item.loss), "values", name)
            earliest = given.get(name, min(config[name] for config in item.configs))
            rule = start_epoch_problem(name, earliest, item.training.epochs)
            if rule and not problems.concern(path):
                problems.add(path, rule, got=earliest)


def check_balance(study: Study, items: Sequence[TrainedLoss], problems: Problems) -> None:
    """Note losses that compare images of a class where batches are drawn without regard to it."""
    for loss, training in {item.loss: item.training for item in items}.items():
        if not training.is_balanced and "balanced" in facts_of(loss).needs:
            rule = (
                f"must be {' or '.join(balanced_samplers())}: {loss} compares images of a class, "
                "and with many classes a random batch has hardly any (1.3 % of the anchors of a "
                "batch of 180 on Stanford Online Products)"
            )
            problems.at("training.sampler", rule, got=training.sampler)


def check_class_text(study: Study, problems: Problems) -> None:
    """Note data sets without the vectors of class names that a loss reads."""
    needing = [loss for loss in study.loss_names if "class_text" in facts_of(loss).needs]
    for index, dataset in enumerate(study.datasets if needing else ()):
        if "class_text" not in dataset.options:
            rule = (
                f"{needing[0]} needs a vector for the name of each class: give {dataset.label} "
                "the option class_text, a file that `podium datasets text` makes"
            )
            problems.add(("datasets", index), rule)


def check_mode(study: Study, items: Sequence[TrainedLoss], problems: Problems) -> None:
    """Note losses that need images where the study trains on feature vectors."""
    for item in items:
        needs = facts_of(item.loss).needs
        has_vectors = dataset_facts(dataset_of(study, item.block)).num_features is not None
        problem = mode_problem(item.training.mode, item.loss, needs, has_vectors=has_vectors)
        path = ("losses", study.loss_names.index(item.loss))
        if problem and not problems.concern(path):
            problems.add(path, problem)


def check_images(study: Study, problems: Problems) -> None:
    """Note every data set that cannot be trained on with the study's networks and sizes."""
    for dataset in study.datasets:
        facts = dataset_facts(dataset)
        for index, backbone in enumerate(study.backbones):
            block = Block(dataset=dataset.label, backbone=backbone.name, embedding_dim=None)
            training = training_of(study, block)
            network = backbone_facts(backbone.name)  # None: known when the trial starts
            problem = (
                None
                if network is None
                else input_problem(
                    dataset=dataset.label,
                    num_features=facts.num_features,
                    backbone=backbone.name,
                    takes_features=network.takes_features,
                    mode=training.mode,
                    image_size=None,
                )
            )
            if problem is not None:
                problems.add(("backbones", index), problem)
            is_augmented = facts.num_features is None and training.mode != FROZEN_FEATURES
            if is_augmented and not problems.concern("training"):  # once, not for each network
                _check_augmentation(study, dataset, training.augmentation, problems)


def _check_augmentation(
    study: Study, dataset: DatasetSettings, kind: str, problems: Problems
) -> None:
    if kind == "shift" and has_image_files(dataset):
        rule = (
            f"augmentation shift moves images of one size by a pixel, and {dataset.label} has "
            "files of many sizes: choose a recipe for them, such as psomas2020, or set "
            "training.augmentation"
        )
    elif kind in ("random_resized_crop", "random_crop") and not has_image_files(dataset):
        rule = (
            f"augmentation {kind} is for image files, and those of {dataset.label} "
            "have a size of their own: set training.augmentation to shift or none"
        )
    else:
        return
    if "augmentation" in study.training.overrides:
        problems.add("training.augmentation", rule, got=kind)
    else:
        problems.add("training.recipe", rule, got=study.training.recipe)


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
