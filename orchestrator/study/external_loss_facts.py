"""Facts of a loss outside `trainables.losses`, read from its constructor."""

import inspect
import math
from collections.abc import Mapping

from podium.orchestrator.study.composed_facts import LossFacts, declared_space
from podium.trainables.loss_composition.external_loss import external_needs
from podium.trainables.loss_composition.loss_base import Loss
from podium.trainables.loss_composition.make_criterion import constructor_arguments, loss_class
from podium.trainables.loss_files import file_of
from podium.trainables.settings.legal_ranges import Flag, Number, Parameter, Range, Text
from podium.trainables.settings.loss_expression import LossTerm

_SOURCE = "its constructor"


def facts_from_code(term: LossTerm) -> LossFacts:
    """Facts of a loss; nothing of it is searched unless the study file or its class says so.

    A loss of podium declares its hyperparameters. Those of another library are the arguments with
    a plain default or without one; legal values are checked by the constructor alone.

    Raises:
        TrialInputError: there is no such loss.
    """
    found = loss_class(term)
    is_ours = issubclass(found, Loss)
    arguments = {} if is_ours else constructor_arguments(found)
    of_arguments = {name: _parameter(argument) for name, argument in arguments.items()}
    parameters: Mapping[str, Parameter] = (
        found.declared
        if is_ours
        else {name: known for name, known in of_arguments.items() if known is not None}
    )
    searched = getattr(found, "search_space", {})
    return LossFacts(
        name=term.name,
        kind="own" if is_ours else "foreign",
        needs=found.needs if is_ours else external_needs(found),
        source=term.name if file_of(term.name) else f"{found.__module__}.{found.__qualname__}",
        parameters=parameters,
        spaces={"joint": declared_space(term.name, searched, parameters)},
    )


def _parameter(argument: inspect.Parameter) -> Parameter | None:
    default = argument.default
    if default is inspect.Parameter.empty:
        return Parameter(None, _annotated(argument.annotation))
    if isinstance(default, bool):
        return Parameter(default, Flag(), source=_SOURCE)
    if isinstance(default, int | float) and math.isfinite(default):
        # Many libraries write gamma=80 for a real number, so integers and reals are accepted.
        return Parameter(default, Number(), source=_SOURCE)
    if isinstance(default, str):
        return Parameter(default, Text(), source=_SOURCE)
    return None  # an object, None or infinity: not a value that a study could search


def _annotated(annotation: object) -> Range:
    """What an argument without a default may be: a number unless annotated as bool or str."""
    if annotation in (bool, "bool"):
        return Flag()
    return Text() if annotation in (str, "str") else Number()
