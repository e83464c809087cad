"""Checks that data sets, backbones and image sizes of a study fit together."""

from podium.orchestrator.study.configs import training_of
from podium.orchestrator.study.defaults import has_image_files
from podium.orchestrator.study.study import Block, Study
from podium.orchestrator.study_parser.problems import Problems
from podium.orchestrator.study_parser.trained_losses import known_datasets
from podium.orchestrator.study_parser.yaml_tree import Path
from podium.trainables.network.backbone_facts import backbone_facts
from podium.trainables.settings.frozen_feature_rules import FROZEN_FEATURES, input_problem
from podium.trainables.settings.trial_settings import DatasetSettings


def check_images(study: Study, problems: Problems) -> None:
    """Note every data set that cannot be trained on with the study's networks and sizes."""
    if problems.concern("backbones"):
        return
    _check_sizes(study, problems)
    for _, dataset, facts in known_datasets(study, problems):
        for index, backbone in enumerate(study.backbones):
            block = Block(
                dataset=dataset.label,
                backbone=backbone.name,
                embedding_dim=study.embedding_dims[0],
            )
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
            if facts.num_features is None and training.mode != FROZEN_FEATURES:
                _check_augmentation(study, dataset, training.augmentation, problems)


def _check_sizes(study: Study, problems: Problems) -> None:
    """Note sizes that are missing, that no data set needs, or that a network does not take."""
    path: Path = ("image_sizes",)
    if problems.concern(path, "training.recipe", "datasets"):
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


def _check_augmentation(
    study: Study, dataset: DatasetSettings, kind: str, problems: Problems
) -> None:
    is_given = "augmentation" in study.training.overrides
    key_path: Path = ("training", "augmentation" if is_given else "recipe")
    got = kind if is_given else study.training.recipe
    if problems.concern("training"):  # which it is of a network that was seen before, too
        return
    if kind == "shift" and has_image_files(dataset):
        rule = (
            f"augmentation shift moves images of one size by a pixel, and {dataset.label} has "
            "files of many sizes: choose a recipe for them, such as psomas2020, or set "
            "training.augmentation"
        )
        problems.add(key_path, rule, got=got)
    elif kind == "random_resized_crop" and not has_image_files(dataset):
        rule = (
            f"augmentation random_resized_crop is for image files, and those of {dataset.label} "
            "have a size of their own: set training.augmentation to shift or none"
        )
        problems.add(key_path, rule, got=got)
