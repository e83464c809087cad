"""Search spaces and configs of a study's losses."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from orchestrator.loss_facts import facts_of
from orchestrator.study import Study
from search_spaces.params import Choice, Int, Parameter, Real, Space, existing
from trainables.settings import HyperparameterValue

if TYPE_CHECKING:  # the schema is pyarrow's, and plans do without
    from orchestrator.results.schema import HyperparameterType

__all__ = ["default_config", "hyperparameter_types", "space_of", "unsearched_values"]


def space_of(study: Study, loss: str) -> Space:
    """What the study's searches try for ``loss``: its space and the training parameters."""
    space = study.spaces.get(loss)
    return space or facts_of(loss).joined_space(study.search.space, study.search.tune)


def unsearched_values(study: Study, loss: str) -> dict[str, HyperparameterValue]:
    """Value of every hyperparameter where no search says otherwise.

    The loss's published values, the study file's own in their place, and the recipe's for what is
    searched of training. Conditional hyperparameters are there whether they exist or not.
    """
    recipe = asdict(study.training)
    searched = {name: recipe[name] for name in space_of(study, loss).parameters if name in recipe}
    return {**facts_of(loss).defaults, **searched, **study.values.get(loss, {})}


def default_config(study: Study, loss: str) -> dict[str, HyperparameterValue]:
    """What a search tries first: the published default, unless the study file has values."""
    return existing(unsearched_values(study, loss), facts_of(loss).conditions)


def hyperparameter_types(study: Study) -> "dict[str, HyperparameterType]":
    """Type of every ``hp.*`` column; a name that two losses use differently gets the wider."""
    types: dict[str, HyperparameterType] = {}
    for loss in study.losses:
        known = facts_of(loss).legal_parameters
        for name in unsearched_values(study, loss):
            kind = _type_of(known.get(name) or space_of(study, loss).parameters[name])
            types[name] = _wider(types.get(name, kind), kind)
    return types


def _type_of(parameter: Parameter | Real | Int | Choice) -> "HyperparameterType":
    if isinstance(parameter, Parameter):
        return _COLUMN_TYPES[parameter.kind]
    if isinstance(parameter, Choice):
        return "str"
    return "int" if isinstance(parameter, Int) else "float"


_COLUMN_TYPES: "dict[str, HyperparameterType]" = {
    "float": "float",
    "number": "float",
    "int": "int",
    "bool": "bool",
    "choice": "str",
    "text": "str",
}


def _wider(one: "HyperparameterType", other: "HyperparameterType") -> "HyperparameterType":
    if one == other:
        return one
    return "float" if {one, other} == {"int", "float"} else "str"
