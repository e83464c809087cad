"""Defaults that depend on data sets and backbones, for studies and for `podium trial train`."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from podium.orchestrator.study.study import Study, StudyTraining
from podium.trainables.dataset_interface.load_dataset import dataset_facts, has_own_size
from podium.trainables.errors import TrialInputError
from podium.trainables.network.backbone_facts import TIMM, backbone_facts
from podium.trainables.network.initial_weights import IMAGENET_WEIGHTS
from podium.trainables.recipes import RECIPES
from podium.trainables.settings.population_agreement import is_head
from podium.trainables.settings.trial_settings import (
    RANDOM_WEIGHTS,
    BackboneSettings,
    DatasetSettings,
)
from podium.trainables.tasks import Task, objective_of

_OF_FILES, _OF_OTHERS = "psomas2020", "fast"


def default_recipe(datasets: Iterable[DatasetSettings]) -> str:
    """``psomas2020`` for image files, which ``fast`` is not made for."""
    return _OF_FILES if any(map(has_image_files, datasets)) else _OF_OTHERS


def recipe_note(recipe: str, datasets: Sequence[DatasetSettings]) -> str:
    """By which recipe data sets are trained on; of image files, what chose it."""
    if not any(map(has_image_files, datasets)):
        return f"recipe {recipe}"
    if recipe != default_recipe(datasets):
        return f"recipe {recipe} for image files"
    return (
        f"image files switch on the recipe {recipe}, unless training.recipe names another "
        "(docs/reference/recipes.md)"
    )


def default_image_size(recipe: str, datasets: Iterable[DatasetSettings]) -> int | None:
    """The recipe's image size if any data set has image files and the recipe one; else None."""
    return RECIPES[recipe].image_size if any(map(has_image_files, datasets)) else None


def default_weights(backbone: str) -> str:
    """``imagenet`` where weights are published, else ``random``.

    Raises:
        TrialInputError: there is no such backbone.
    """
    facts = backbone_facts(backbone)
    if facts is None:
        return IMAGENET_WEIGHTS if backbone.startswith(TIMM) else RANDOM_WEIGHTS
    is_published = facts.published_weights or facts.weights_note
    return IMAGENET_WEIGHTS if is_published else RANDOM_WEIGHTS


def is_missing(backbone: BackboneSettings) -> bool:
    """Whether the weights are a file that is not on this machine: another one may train."""
    file = Path(backbone.weights)
    return file.is_absolute() and not file.exists()


def are_heads(training: StudyTraining, backbones: Iterable[BackboneSettings]) -> bool:
    """Whether all trials of a study train an embedding layer alone, on fixed features."""
    mode = training.overrides.get("mode")
    return all(is_head(mode, backbone.name) for backbone in backbones)


def has_image_files(dataset: DatasetSettings) -> bool:
    """Whether its images are files that have to be resized; False if the data set is unknown."""
    try:
        return not has_own_size(dataset)
    except TrialInputError:  # reported where data sets are checked
        return False


def task_of(study: Study) -> Task:
    """The task of a checked study, which all its data sets share."""
    return dataset_facts(study.datasets[0]).task


def metric_of(datasets: Sequence[DatasetSettings]) -> str:
    """The metric that searches of these data sets maximise."""
    for dataset in datasets[:1]:
        with suppress(TrialInputError):  # reported where data sets are checked
            return objective_of(dataset_facts(dataset).task)
    return objective_of("classes")
