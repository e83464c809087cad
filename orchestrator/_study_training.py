"""The training section of a study file: a recipe, and what the study changes about it."""

from collections.abc import Sequence

from orchestrator._study_section import Section
from orchestrator.configs import TRAINING_TYPES
from orchestrator.study import StudyTraining
from trainables.datasets.loading import dataset_facts
from trainables.errors import TrialInputError
from trainables.hyperparameters import CHOICES
from trainables.recipes import RECIPES
from trainables.settings import DatasetSettings, HyperparameterValue

__all__ = ["TRAINING_KEYS", "has_files", "read_training"]

TRAINING_KEYS = ("recipe", *TRAINING_TYPES)

_OF_GLYPHS, _OF_FILES = "fast", "thesis"
_LEAST = {"epochs": 1, "batch_size": 1, "samples_per_class": 1}


def read_training(section: Section, datasets: Sequence[DatasetSettings]) -> StudyTraining:
    """What the section says, each value of its type. Ranges are judged with the recipe."""
    recipe = section.choice("recipe", default_recipe(datasets), sorted(RECIPES))
    overrides: dict[str, HyperparameterValue] = {}
    for name, kind in TRAINING_TYPES.items():
        if name not in section:
            continue
        if kind is bool:
            value: HyperparameterValue = section.flag(name, False)
        elif kind is int:
            value = section.whole(name, 1, low=_LEAST.get(name, 0))
        elif kind is float:
            value = section.real(name, 0.0)
        elif name in CHOICES:
            value = section.choice(name, CHOICES[name][0], CHOICES[name])
        else:
            value = section.text(name, "")
        if not section.is_wrong(name):
            overrides[name] = value
    return StudyTraining(recipe=recipe, overrides=overrides)


def default_recipe(datasets: Sequence[DatasetSettings]) -> str:
    """``thesis`` for image files, for which ``fast`` is not made."""
    return _OF_FILES if any(map(has_files, datasets)) else _OF_GLYPHS


def has_files(dataset: DatasetSettings) -> bool:
    """Whether the images are files that have to be resized; not so if nothing is known of them."""
    try:
        return not dataset_facts(dataset).has_own_size
    except TrialInputError:  # noted where data sets are checked
        return False
