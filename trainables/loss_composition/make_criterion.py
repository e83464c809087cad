"""From the name of a loss and its hyperparameters to what a network is trained with."""

import inspect
from collections.abc import Mapping
from typing import Any

from podium.trainables.errors import TrialInputError
from podium.trainables.importable_code import module_class
from podium.trainables.loss_composition.cross_batch_memory import CrossBatchMemory
from podium.trainables.loss_composition.external_loss import ExternalLoss
from podium.trainables.loss_composition.loss_base import Criterion, Loss
from podium.trainables.loss_composition.matryoshka import Matryoshka
from podium.trainables.loss_composition.pretraining import Pretraining
from podium.trainables.loss_composition.weighted_sum import WeightedSum
from podium.trainables.registry import load
from podium.trainables.settings.legal_ranges import Parameter
from podium.trainables.settings.loss_expression import (
    MATRYOSHKA,
    MEMORY,
    PRETRAINING,
    WEIGHT,
    LossTerm,
    parse_loss,
)
from podium.trainables.settings.training_settings import HyperparameterValue


def make_criterion(
    expression: str, hyperparameters: Mapping[str, HyperparameterValue]
) -> Criterion:
    """The loss that ``expression`` names, at ``hyperparameters``, not yet prepared.

    Raises:
        TrialInputError: a name is unknown, or the value of a hyperparameter illegal.
    """
    parsed = parse_loss(expression)
    is_sum = len(parsed.terms) > 1
    made = {}
    for term in parsed.all_terms:
        values = parsed.own(term, hyperparameters)
        if is_sum and term in parsed.terms:
            values.pop("weight", None)  # of the sum
        made[term] = _make_term(term, values)
    terms = [made[term] for term in parsed.terms]
    total = terms[0]
    if is_sum:
        weights = {f"{term.prefix}.weight": WEIGHT["weight"] for term in parsed.terms}
        total = WeightedSum(terms, list(_checked(weights, hyperparameters).values()))
    if parsed.pretraining is None:
        return total
    return Pretraining(made[parsed.pretraining], total, **_checked(PRETRAINING, hyperparameters))


def hyperparameter_names(expression: str) -> tuple[str, ...]:
    """What may be set of the loss that ``expression`` names.

    Raises:
        TrialInputError: a name in it is unknown.
    """
    parsed = parse_loss(expression)
    known: list[str] = [] if parsed.pretraining is None else list(PRETRAINING)
    for term in parsed.all_terms:
        found = loss_class(term)
        names = list(found.declared if issubclass(found, Loss) else constructor_arguments(found))
        names += list(_around(term))
        names += list(WEIGHT) if len(parsed.terms) > 1 and term in parsed.terms else []
        known += names if parsed.is_single else [f"{term.prefix}.{name}" for name in names]
    return tuple(known)


def loss_class(term: LossTerm) -> type[Any]:
    """The class a term names: a `Loss`, or a module of another library.

    Raises:
        TrialInputError: there is no such loss, or it may not be imported now.
    """
    if not term.is_external:
        loaded: type[Any] = load("losses", term.name)
        return loaded
    return module_class("loss", term.name)


def constructor_arguments(loss: type[Any]) -> dict[str, inspect.Parameter]:
    """The named arguments of a module of another library that a config may set."""
    arguments = inspect.signature(loss).parameters.values()
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {
        argument.name: argument
        for argument in arguments
        if argument.kind in by_name
        and argument.name not in ("num_classes", "embedding_size", "embedding_dim")
    }


def _make_term(term: LossTerm, values: dict[str, HyperparameterValue]) -> Criterion:
    around = {name: values.pop(name) for name in _around(term) if name in values}
    loss = _make_loss(term, values)
    checked = _checked(_around(term), around)
    if term.has_prefixes:
        return Matryoshka(loss, **checked)
    if not term.has_memory:
        return loss
    if not isinstance(loss, Loss):
        raise TrialInputError(f"only a loss of podium can have a memory; got {term.name}")
    return CrossBatchMemory(loss, **checked)


def _around(term: LossTerm) -> Mapping[str, Parameter]:
    """Hyperparameters of what a term has around its loss."""
    return MEMORY if term.has_memory else MATRYOSHKA if term.has_prefixes else {}


def _make_loss(term: LossTerm, values: Mapping[str, HyperparameterValue]) -> Criterion:
    found = loss_class(term)
    if not issubclass(found, Loss):
        return ExternalLoss(found, values)
    try:
        made: Loss = found(**values)
    except (TypeError, ValueError) as error:
        raise TrialInputError(f"loss {term.name}: {error}") from error
    return made


def _checked(
    parameters: Mapping[str, Parameter], values: Mapping[str, HyperparameterValue]
) -> dict[str, Any]:
    checked = {}
    for name, parameter in parameters.items():
        value = values.get(name, parameter.default)
        if problem := parameter.problem_with(value):
            raise TrialInputError(f"{name} {problem}")
        checked[name] = parameter.typed(value)
    return checked
