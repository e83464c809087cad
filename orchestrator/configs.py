"""Search spaces and default configs of a study's losses."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from orchestrator.study import Study
from search_spaces.catalogue import defaults, joined_space, loss_facts
from search_spaces.params import Choice, Int, Parameter, Real, Space
from search_spaces.training import TRAINING_PARAMETERS
from trainables.settings import HyperparameterValue

if TYPE_CHECKING:  # the schema is pyarrow's, and plans do without
    from orchestrator.results.schema import HyperparameterType

__all__ = ["default_config", "hyperparameter_types", "space_of"]


def space_of(study: Study, loss: str) -> Space:
    """What the study's searches try for ``loss``: its space and the training parameters."""
    return study.spaces.get(loss) or joined_space(loss, study.search.space, study.search.tune)


def default_config(study: Study, loss: str) -> dict[str, HyperparameterValue]:
    """The published default: the loss's own values, and the recipe's for what is searched."""
    recipe = asdict(study.training)
    searched = {name: recipe[name] for name in space_of(study, loss).parameters if name in recipe}
    return {**defaults(loss), **searched}


def hyperparameter_types(study: Study) -> "dict[str, HyperparameterType]":
    """Type of every ``hp.*`` column; a name that two losses use differently gets the wider."""
    types: dict[str, HyperparameterType] = {}
    for loss in study.losses:
        known = {**loss_facts(loss).parameters, **TRAINING_PARAMETERS}
        for name in default_config(study, loss):
            kind = _type_of(known.get(name) or space_of(study, loss).parameters[name])
            types[name] = _wider(types.get(name, kind), kind)
    return types


def _type_of(parameter: Parameter | Real | Int | Choice) -> "HyperparameterType":
    if isinstance(parameter, Parameter):
        return "str" if parameter.kind == "choice" else parameter.kind
    if isinstance(parameter, Choice):
        return "str"
    return "int" if isinstance(parameter, Int) else "float"


def _wider(one: "HyperparameterType", other: "HyperparameterType") -> "HyperparameterType":
    if one == other:
        return one
    return "float" if {one, other} == {"int", "float"} else "str"
