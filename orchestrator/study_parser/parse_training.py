"""The training section of a study file: a recipe, and what the study changes about it."""

from collections.abc import Sequence

from orchestrator.study.configs import TRAINING_TYPES
from orchestrator.study.defaults import default_recipe
from orchestrator.study.study import StudyTraining
from orchestrator.study_parser.yaml_section import Section
from trainables.recipes import RECIPES
from trainables.settings.hyperparameters import CHOICES
from trainables.settings.trial_settings import DatasetSettings, HyperparameterValue

__all__ = ["TRAINING_KEYS", "read_training"]

TRAINING_KEYS = ("recipe", *TRAINING_TYPES)

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
