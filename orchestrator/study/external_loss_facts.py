"""Facts of a loss that has no module in search_spaces, read from its constructor."""

import inspect
import math
from typing import Literal

from search_spaces.catalogue import LossFacts
from search_spaces.parameters import Parameter, Space
from trainables.loss_composition.external_loss import external_needs
from trainables.loss_composition.loss_base import Loss
from trainables.loss_composition.make_criterion import constructor_arguments, loss_class
from trainables.settings.loss_expression import LossTerm

__all__ = ["facts_from_code"]

_SOURCE = "its constructor"


def facts_from_code(term: LossTerm) -> LossFacts:
    """Facts of a loss: its hyperparameters are arguments with a plain default or without one.

    Legal values are checked by the constructor alone. Nothing is searched unless the study file
    states a space.

    Raises:
        TrialInputError: there is no such loss.
    """
    found = loss_class(term)
    parameters = {
        name: parameter
        for name, argument in constructor_arguments(found).items()
        if (parameter := _parameter(argument)) is not None
    }
    is_ours = issubclass(found, Loss)
    return LossFacts(
        name=term.name,
        kind="own" if is_ours else "foreign",
        needs=found.needs if is_ours else external_needs(found),
        source=f"{found.__module__}.{found.__qualname__}",
        parameters=parameters,
        spaces={"joint": Space({})},
    )


def _parameter(argument: inspect.Parameter) -> Parameter | None:
    default = argument.default
    if default is inspect.Parameter.empty:
        return Parameter(default=None, kind=_annotated_kind(argument.annotation))
    if isinstance(default, bool):
        return Parameter(default=default, kind="bool", source=_SOURCE)
    if isinstance(default, int | float) and math.isfinite(default):
        # Many libraries write gamma=80 for a real number, so integers and reals are accepted.
        return Parameter(default=default, kind="number", source=_SOURCE)
    if isinstance(default, str):
        return Parameter(default=default, kind="text", source=_SOURCE)
    return None  # an object, None or infinity: not a value that a study could search


def _annotated_kind(annotation: object) -> Literal["bool", "text", "number"]:
    """Kind of an argument without a default: a number unless annotated as bool or str."""
    if annotation in (bool, "bool"):
        return "bool"
    return "text" if annotation in (str, "str") else "number"
