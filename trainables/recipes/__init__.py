"""Training recipes by name: what a study gets unless it says otherwise. One module each. No torch.

`docs/reference/recipes.md` says where each comes from, and where a source contradicts itself.
"""

from collections.abc import Mapping
from types import MappingProxyType

from podium.trainables.errors import unknown_name
from podium.trainables.recipes._base import Recipe
from podium.trainables.recipes.fast import FAST
from podium.trainables.recipes.gradml_paper import GRADML_PAPER
from podium.trainables.recipes.log_ratio_paper import LOG_RATIO_PAPER
from podium.trainables.recipes.proxy_anchor_paper import PROXY_ANCHOR_PAPER
from podium.trainables.recipes.proxy_gml_paper import PROXY_GML_PAPER
from podium.trainables.recipes.psomas2020 import PSOMAS2020
from podium.trainables.recipes.psomas2020_code import PSOMAS2020_CODE
from podium.trainables.recipes.reality_check import REALITY_CHECK
from podium.trainables.settings.loss_expression import parse_loss
from podium.trainables.settings.training_settings import (
    TRAINING_TYPES,
    HyperparameterValue,
    TrainingSettings,
)

RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        recipe.base.recipe: recipe
        for recipe in (
            FAST,
            PSOMAS2020,
            PSOMAS2020_CODE,
            PROXY_ANCHOR_PAPER,
            GRADML_PAPER,
            PROXY_GML_PAPER,
            LOG_RATIO_PAPER,
            REALITY_CHECK,
        )
    }
)


def training_for(recipe: str, *, dataset: str, backbone: str) -> TrainingSettings:
    """What a recipe does on a data set with a backbone, both by name.

    Names that the recipe says nothing of get its base.

    Raises:
        TrialInputError: there is no such recipe.
    """
    return _known(recipe).training(dataset, backbone)


def loss_values(
    recipe: str, loss: str, *, dataset: str | None = None
) -> Mapping[str, HyperparameterValue]:
    """What a recipe gives one loss beside what it gives all.

    Args:
        recipe: name of the recipe.
        loss: an expression (`trainables.settings.loss_expression`). Of several terms each keeps
            its own hyperparameters, under their names in the expression. Fields of
            `TrainingSettings` are those of the first term that has them, except ``sampler``, on
            which all must agree.
        dataset: name of the data set; some recipes have other values for each.

    Returns:
        Hyperparameters of the loss, and fields of `TrainingSettings`; empty if there are none.

    Raises:
        TrialInputError: there is no such recipe, or the expression is spelt wrongly.
    """
    source, parsed = _known(recipe), parse_loss(loss)
    parts = [source.of_loss(term.name, dataset) for term in parsed.all_terms]
    values: dict[str, HyperparameterValue] = {}
    for term, part in zip(parsed.all_terms, parts, strict=True):
        for name, value in part.items():
            if name in TRAINING_TYPES:
                values.setdefault(name, value)
            else:
                values[name if parsed.is_single else f"{term.prefix}.{name}"] = value
    if len({part.get("sampler") for part in parts}) > 1:
        del values["sampler"]
    return values


def reasons_of(recipe: str) -> Mapping[str, str]:
    """Why a recipe trains losses differently: setting of training -> reason with its source.

    Raises:
        TrialInputError: there is no such recipe.
    """
    return _known(recipe).reasons


def _known(recipe: str) -> Recipe:
    if recipe not in RECIPES:
        raise unknown_name("recipe", recipe, RECIPES)
    return RECIPES[recipe]
