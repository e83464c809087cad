"""From the name of a loss and its hyperparameters to what a network is trained with."""

import importlib
import inspect
from collections.abc import Mapping
from typing import Any

from torch import nn

from trainables.errors import TrialInputError, unknown_name
from trainables.importable_code import check_importable
from trainables.loss_composition.cross_batch_memory import MEMORY_DEFAULTS, CrossBatchMemory
from trainables.loss_composition.external_loss import ExternalLoss
from trainables.loss_composition.loss_base import Criterion, Loss
from trainables.loss_composition.pretraining import PRETRAINING_DEFAULTS, Pretraining
from trainables.loss_composition.weighted_sum import WeightedSum
from trainables.registry import load
from trainables.settings.legal_ranges import Interval, Range, Whole
from trainables.settings.loss_expression import LossTerm, parse_loss
from trainables.settings.trial_settings import HyperparameterValue

__all__ = ["constructor_arguments", "hyperparameter_names", "loss_class", "make_criterion"]

_WEIGHT = "weight"
_RANGES: dict[str, Range] = {
    "weight": Interval(0.0, 1e6),
    "memory_size": Whole(1, 10_000_000),
    "memory_weight": Interval(0.0, 1e6),
    "memory_start_epoch": Whole(1, 1_000_000),
    "pretraining_epochs": Whole(0, 1_000_000),
}


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
            values.pop(_WEIGHT, None)  # of the sum
        made[term] = _make_term(term, values)
    terms = [made[term] for term in parsed.terms]
    names = [f"{term.prefix}.{_WEIGHT}" for term in parsed.terms] if is_sum else []
    weights = [_checked(name, hyperparameters, 1.0) for name in names]
    total = WeightedSum(terms, weights) if is_sum else terms[0]
    if parsed.pretraining is None:
        return total
    arguments = {
        name: _checked(name, hyperparameters, default)
        for name, default in PRETRAINING_DEFAULTS.items()
    }
    return Pretraining(made[parsed.pretraining], total, **arguments)


def hyperparameter_names(expression: str) -> tuple[str, ...]:
    """What may be set of the loss that ``expression`` names.

    Raises:
        TrialInputError: a name in it is unknown.
    """
    parsed = parse_loss(expression)
    known: list[str] = [] if parsed.pretraining is None else list(PRETRAINING_DEFAULTS)
    for term in parsed.all_terms:
        names = list(constructor_arguments(loss_class(term)))
        names += list(MEMORY_DEFAULTS) if term.has_memory else []
        names += [_WEIGHT] if len(parsed.terms) > 1 and term in parsed.terms else []
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
    check_importable(term.name)
    module_name, _, class_name = term.name.partition(":")
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # whatever the module does when it is imported
        raise TrialInputError(f"loss {term.name}: cannot import {module_name}: {error}") from error
    found = getattr(module, class_name, None)
    if found is None:
        classes = [name for name, item in vars(module).items() if inspect.isclass(item)]
        raise unknown_name(f"loss of {module_name}", class_name, classes)
    if not inspect.isclass(found) or not issubclass(found, nn.Module):
        raise TrialInputError(f"loss {term.name} must be a subclass of torch.nn.Module")
    return found


def constructor_arguments(loss: type[Any]) -> dict[str, inspect.Parameter]:
    """The named arguments of a constructor that a config may set."""
    arguments = inspect.signature(loss).parameters.values()
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {
        argument.name: argument
        for argument in arguments
        if argument.kind in by_name
        and argument.name not in ("num_classes", "embedding_size", "embedding_dim")
    }


def _make_term(term: LossTerm, values: dict[str, HyperparameterValue]) -> Criterion:
    if not term.has_memory:
        return _make_loss(term, values)
    memory = {name: values.pop(name, default) for name, default in MEMORY_DEFAULTS.items()}
    loss = _make_loss(term, values)
    if not isinstance(loss, Loss):
        raise TrialInputError(f"only a loss of podium can have a memory; got {term.name}")
    return CrossBatchMemory(
        loss, **{name: _checked(name, memory, default) for name, default in memory.items()}
    )


def _make_loss(term: LossTerm, values: Mapping[str, HyperparameterValue]) -> Criterion:
    found = loss_class(term)
    if not issubclass(found, Loss):
        return ExternalLoss(found, values)
    try:
        made: Loss = found(**values)
    except (TypeError, ValueError) as error:
        raise TrialInputError(f"loss {term.name}: {error}") from error
    return made


def _checked(name: str, values: Mapping[str, HyperparameterValue], default: Any) -> Any:
    value = values.get(name, default)
    if problem := _RANGES[name.rpartition(".")[2]].problem_with(value):
        raise TrialInputError(f"{name} {problem}")
    return value
