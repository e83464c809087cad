"""Checks that data sets, backbones and image sizes of a study fit together."""

from collections.abc import Iterator

from orchestrator.study.configs import training_of
from orchestrator.study.dataset_facts import dataset_facts
from orchestrator.study.defaults import has_image_files
from orchestrator.study.study import Block, Study
from orchestrator.study_parser.problems import Problems
from orchestrator.study_parser.yaml_tree import Path
from trainables.dataset_interface.dataset import DatasetFacts
from trainables.errors import TrialInputError
from trainables.network.backbone_facts import backbone_facts
from trainables.settings.frozen_feature_rules import FROZEN_FEATURES, input_problem
from trainables.settings.training_settings import TrainingSettings
from trainables.settings.trial_settings import DatasetSettings


def check_images(study: Study, problems: Problems) -> None:
    """Note every data set that cannot be trained on with the study's networks and sizes."""
    if problems.concern(("backbones",)):
        return
    _check_sizes(study, problems)
    for index, dataset in enumerate(study.datasets):
        if problems.concern(("datasets", index)):
            continue
        try:
            facts = dataset_facts(dataset)
        except TrialInputError:  # noted where data sets are checked
            continue
        _check_backbones(study, dataset, facts, problems)
        _check_augmentation(study, dataset, facts, problems)


def _check_sizes(study: Study, problems: Problems) -> None:
    """Note sizes that are missing, that no data set needs, or that a network does not take."""
    path: Path = ("image_sizes",)
    if problems.concern(path, ("training", "recipe"), ("datasets",)):
        return
    files = [dataset.label for dataset in study.datasets if has_image_files(dataset)]
    others = [dataset.label for dataset in study.datasets if not has_image_files(dataset)]
    if study.image_sizes and others and (len(study.image_sizes) > 1 or not files):
        rule = (
            f"image_sizes are for data sets of image files; images of {', '.join(others)} have "
            "a size of their own"
        )
        problems.add(path, rule, got=list(study.image_sizes))
    if files and not study.image_sizes:
        rule = (
            f"image_sizes must be given: {files[0]} has image files, and the recipe "
            f"{study.training.recipe} has no default size"
        )
        problems.add(path, rule)
    for backbone in study.backbones:
        network = backbone_facts(backbone.name)
        for index, size in enumerate(study.image_sizes):
            if network and (problem := network.size_problem(backbone.name, size)):
                problems.add((*path, index), problem)


def _check_backbones(
    study: Study, dataset: DatasetSettings, facts: DatasetFacts, problems: Problems
) -> None:
    """Note networks for images that would get vectors, and the other way round."""
    for index, backbone in enumerate(study.backbones):
        network = backbone_facts(backbone.name)
        if network is None:  # known when the trial starts
            continue
        problem = input_problem(
            dataset=dataset.label,
            num_features=facts.num_features,
            backbone=backbone.name,
            takes_features=network.takes_features,
            mode=_training(study, dataset, backbone.name).mode,
            image_size=None,
        )
        if problem is not None:
            problems.add(("backbones", index), problem)


def _check_augmentation(
    study: Study, dataset: DatasetSettings, facts: DatasetFacts, problems: Problems
) -> None:
    if facts.num_features is not None or problems.concern(("training",)):
        return
    for training in _trainings(study, dataset):
        kind, key_path = training.augmentation, _augmentation_path(study)
        if training.mode == FROZEN_FEATURES or problems.concern(key_path):
            continue
        if kind == "shift" and has_image_files(dataset):
            problems.add(
                key_path,
                "augmentation shift moves images of one size by a pixel, and "
                f"{dataset.label} has files of many sizes: choose a recipe for them, such as "
                "psomas2020, or set training.augmentation",
                got=study.training.recipe if key_path[-1] == "recipe" else kind,
            )
        elif kind == "random_resized_crop" and not has_image_files(dataset):
            problems.add(
                key_path,
                f"augmentation random_resized_crop is for image files, and those of "
                f"{dataset.label} have a size of their own: set training.augmentation to shift "
                "or none",
                got=study.training.recipe if key_path[-1] == "recipe" else kind,
            )


def _augmentation_path(study: Study) -> Path:
    is_given = "augmentation" in study.training.overrides
    return ("training", "augmentation" if is_given else "recipe")


def _trainings(study: Study, dataset: DatasetSettings) -> Iterator[TrainingSettings]:
    for backbone in study.backbones:
        yield _training(study, dataset, backbone.name)


def _training(study: Study, dataset: DatasetSettings, backbone: str) -> TrainingSettings:
    block = Block(dataset=dataset.label, backbone=backbone, embedding_dim=study.embedding_dims[0])
    return training_of(study, block)
