"""Facts of the loss that a study names: single, external, summed, pretrained or with a memory.

Losses in `trainables.losses` are known without torch: what they declare is joined with what is
searched of them. Those of another library are looked up in the code itself, and so are losses with
a memory.
"""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeVar

from podium.errors import PodiumError
from podium.search_spaces.composed_losses import MEMORY_SPACE, PRETRAINING_SPACE, WEIGHT_SPACE
from podium.search_spaces.conditions import CONDITIONS, PROXIES_IF
from podium.search_spaces.families import FAMILIES
from podium.search_spaces.named_spaces import NAMED_SPACES
from podium.search_spaces.parameters import (
    Choice,
    Condition,
    Every,
    Int,
    Published,
    Ranges,
    Real,
    Space,
    Value,
)
from podium.search_spaces.training_parameters import (
    PROXY_PARAMETERS,
    PUBLISHED_TRAINING,
    RATES,
    TRAINING_SPACES,
)
from podium.trainables.errors import TrialInputError
from podium.trainables.own_files import file_of, version_of
from podium.trainables.registry import literals
from podium.trainables.settings.legal_ranges import (
    DECLARATIONS,
    Flag,
    Interval,
    Number,
    OneOf,
    Parameter,
    Range,
    Text,
)
from podium.trainables.settings.loss_expression import (
    MATRYOSHKA,
    MEMORY,
    PRETRAINING,
    WEIGHT,
    LossExpression,
    LossTerm,
    parse_loss,
)
from podium.trainables.settings.training_settings import LEGAL_VALUES, TrainingSettings

T = TypeVar("T")

_MEMORY_SOURCE = "Wang et al. 2020, Cross-Batch Memory for Embedding Learning"
_MATRYOSHKA_SOURCE = "Kusupati et al. 2022, Matryoshka Representation Learning"

_DEFAULT = TrainingSettings()

TRAINING_PARAMETERS: dict[str, Parameter] = {
    name: Parameter(getattr(_DEFAULT, name), LEGAL_VALUES[name], unit=tried.unit, source="own")
    for name, tried in TRAINING_SPACES.items()
}
"""Defaults belong to podium's own small network; a study states its own for others."""

_SMALLEST_RATE = 1e-12  # a smaller one changes no weight, and ranges around it end in 0


def space_around(name: str, value: Value) -> Real | Int:
    """The range of a training parameter where a recipe has ``value``.

    Rates range from a tenth to thirty times the recipe's, as far as that is legal; a rate that is
    0, or as good as, and everything else have the range in `TRAINING_SPACES`.
    """
    standard = TRAINING_SPACES[name]
    if name not in RATES or float(value) < _SMALLEST_RATE or not isinstance(standard, Real):
        return standard
    factor = float(value) / getattr(_DEFAULT, name)
    legal = TRAINING_PARAMETERS[name].legal
    assert isinstance(legal, Interval)
    high = min(standard.high * factor, legal.high)
    return replace(standard, low=standard.low * factor, high=high)


@dataclass(frozen=True, slots=True, kw_only=True)
class LossFacts:
    """What is known of a loss without loading it.

    Attributes:
        name: file name of the loss, as in a study file.
        kind: group of losses: ``pair``, ``proxy``, ...
        needs: what a study has to provide: ``balanced``, ``normalised``, ``proxies``, ...
        source: paper and equation.
        parameters: hyperparameters by name, with defaults and legal ranges.
        spaces: search spaces by name; ``joint`` is always there.
        conditions: conditions of the hyperparameters that exist only while another has certain
            values.
        proxies_if: conditions, one of which holds where the loss trains parameters of its own;
            empty if ``needs`` alone decide.
        published_training: training parameters that publications state for the loss.
        family: name of the losses it could be taken for; None if there are none, and of a composed
            loss.
        differs: how it differs from the others of its family.
    """

    name: str
    kind: str
    needs: frozenset[str]
    source: str
    parameters: Mapping[str, Parameter]
    spaces: Mapping[str, Space]
    conditions: Mapping[str, Condition] = field(default_factory=dict)
    proxies_if: tuple[Condition, ...] = ()
    published_training: Mapping[str, Published] = field(default_factory=dict)
    family: str | None = None
    differs: str | None = None

    @property
    def defaults(self) -> dict[str, Value]:
        """Defaults of its own hyperparameters, leaving out those without one."""
        return {
            name: parameter.default
            for name, parameter in self.parameters.items()
            if parameter.default is not None
        }

    @property
    def legal_parameters(self) -> dict[str, Parameter]:
        """Everything a config may set: its own hyperparameters and those of training."""
        return {**self.parameters, **TRAINING_PARAMETERS}

    def has_proxies(self, configs: Iterable[Mapping[str, Value]]) -> bool:
        """Whether the loss trains parameters of its own in one of these configs."""
        if "proxies" not in self.needs or not self.proxies_if:
            return "proxies" in self.needs
        return any(condition.holds(config) for config in configs for condition in self.proxies_if)

    def joined_space(
        self, space: str | Space, tune: Sequence[str], training: Mapping[str, Value] | None = None
    ) -> Space:
        """A space, or one of its own by name, together with training parameters.

        Those of proxies join only where the loss has some, so one list serves all losses of a
        study. Ranges lie around the given values of training, or else around the defaults.
        """
        # The space itself may have a range of training that suits it.
        own = (self.spaces[space] if isinstance(space, str) else space).parameters
        centres = training or {}
        joining = {
            name: space_around(name, centres[name]) if name in centres else TRAINING_SPACES[name]
            for name in tune
            if name not in own and ("proxies" in self.needs or name not in PROXY_PARAMETERS)
        }
        return Space({**own, **joining})


def facts_of(loss: str) -> LossFacts:
    """Facts of a loss by its name in a study; see `trainables.settings.loss_expression`.

    Raises:
        TrialInputError: a name in it is unknown, a file was not read (`trainables.own_files`), or
            a loss cannot be used with a memory.
    """
    return _facts_of(loss, version_of(loss))


@cache
def _facts_of(loss: str, version: str) -> LossFacts:
    """The facts; ``version`` is another where a file was read anew."""
    del version
    expression = parse_loss(loss)
    facts = {term: _term_facts(term) for term in expression.all_terms}
    return facts[expression.terms[0]] if expression.is_single else _composed(expression, facts)


def _term_facts(term: LossTerm) -> LossFacts:
    facts = _facts_from_code(term) if term.is_external else _joined(term.name)
    if term.has_prefixes:
        if facts.kind == "foreign" and "proxies" in facts.needs:
            raise TrialInputError(
                f"{term.name} has proxies of its own, which matryoshka: cannot shorten; name one"
                " of podium's losses"
            )
        source = f"{facts.source}; {_MATRYOSHKA_SOURCE}"
        return _extended(replace(facts, name=str(term), source=source), MATRYOSHKA, {})
    if not term.has_memory:
        return facts
    from podium.trainables.loss_composition.make_criterion import loss_class  # loads torch

    if not getattr(loss_class(term), "takes_references", False):
        raise TrialInputError(f"{term.name} compares within a batch only and cannot use a memory")
    source = f"{facts.source}; {_MEMORY_SOURCE}"
    named = replace(facts, name=str(term), source=source)
    return _extended(named, MEMORY, MEMORY_SPACE)


def _joined(name: str) -> LossFacts:
    """What the loss declares, with what is searched of it."""
    try:
        stated = literals("losses", name, calls=DECLARATIONS)
    except TrialInputError:
        raise
    except PodiumError as error:
        raise TrialInputError(f"loss {name}: {error}") from error
    parameters: dict[str, Parameter] = stated.get("declared", {})
    declared = _declared_space(name, stated.get("search_space", {}), parameters)
    rows = {space: losses[name] for space, losses in NAMED_SPACES.items() if name in losses}
    searched: dict[str, Ranges] = {"joint": declared.parameters, **rows}
    if (
        not {"kind", "source", "needs"} <= stated.keys()
        or searched["joint"].keys() - parameters.keys() - TRAINING_PARAMETERS.keys()
    ):
        raise TrialInputError(
            f"loss {name} must state kind, source and needs, and in declared all that is searched,"
            " in its own class and in literals"
        )
    family = next((family for family, losses in FAMILIES.items() if name in losses), None)
    return LossFacts(
        name=name,
        kind=stated["kind"],
        needs=stated["needs"],
        source=stated["source"],
        parameters=parameters,
        spaces={
            space: Space({key: _tried(tried, key, parameters) for key, tried in ranges.items()})
            for space, ranges in searched.items()
        },
        conditions=CONDITIONS.get(name, {}),
        proxies_if=(PROXIES_IF[name],) if name in PROXIES_IF else (),
        published_training=PUBLISHED_TRAINING.get(name, {}),
        family=family,
        differs=FAMILIES[family][name] if family else None,
    )


def _tried(
    tried: Real | Int | Choice | Every, name: str, parameters: Mapping[str, Parameter]
) -> Real | Int | Choice:
    declared = parameters[name] if name in parameters else TRAINING_PARAMETERS[name]
    if isinstance(tried, Every):
        legal = declared.legal
        tried = Choice(legal.values if isinstance(legal, OneOf) else (False, True))
    return replace(tried, unit=declared.unit)


def _facts_from_code(term: LossTerm) -> LossFacts:
    """Facts of a loss; nothing of it is searched unless the study file or its class says so.

    A loss of podium declares its hyperparameters. Those of another library are the arguments with
    a plain default or without one; legal values are checked by the constructor alone.

    Raises:
        TrialInputError: there is no such loss.
    """
    from podium.trainables.loss_composition.external_loss import external_needs  # loads torch
    from podium.trainables.loss_composition.loss_base import Loss
    from podium.trainables.loss_composition.make_criterion import constructor_arguments, loss_class

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
        spaces={"joint": _declared_space(term.name, searched, parameters)},
    )


def _parameter(argument: inspect.Parameter) -> Parameter | None:
    """What an argument may be, by its default or annotation; None if it is no value of a study."""
    default, is_given = argument.default, argument.default is not inspect.Parameter.empty
    kinds: dict[object, Range] = {bool: Flag(), "bool": Flag(), str: Text(), "str": Text()}
    # Many libraries write gamma=80 for a real number, so integers and reals are accepted.
    legal = kinds.get(type(default) if is_given else argument.annotation, Number())
    if not is_given:
        return Parameter(None, legal)
    is_plain = legal.problem_with(default) is None  # else an object, None or infinity
    return Parameter(default, legal, source="its constructor") if is_plain else None


def _composed(expression: LossExpression, facts: Mapping[LossTerm, LossFacts]) -> LossFacts:
    """Facts of a weighted sum, or of a loss after a pre-training.

    If there are several terms each gets a ``weight``, and all but the first one's are searched:
    only their ratios matter. Names of hyperparameters begin with that of their term. There are
    the spaces that all terms have.
    """
    first, *others = expression.terms
    weighted = {first: _extended(facts[first], WEIGHT if others else {}, {})}
    weighted |= {term: _extended(facts[term], WEIGHT, WEIGHT_SPACE) for term in others}
    if expression.pretraining is not None:
        weighted.setdefault(expression.pretraining, facts[expression.pretraining])
    parts = [_prefixed(term, of_term) for term, of_term in weighted.items()]
    # Not if a part has proxies in each config.
    are_conditional = all(part.proxies_if for part in parts if "proxies" in part.needs)
    shared = [space for space in NAMED_SPACES if all(space in part.spaces for part in parts)]
    merged = LossFacts(
        name=str(expression),
        kind="sum" if others else facts[first].kind,
        needs=frozenset[str]().union(*(part.needs for part in parts)),
        source="; ".join(dict.fromkeys(part.source for part in parts)),
        parameters=_union(part.parameters for part in parts),
        spaces={
            space: Space(_union(part.spaces[space].parameters for part in parts))
            for space in shared
        },
        conditions=_union(part.conditions for part in parts),
        proxies_if=tuple(it for part in parts for it in part.proxies_if if are_conditional),
        published_training=_union(part.published_training for part in reversed(parts)),
    )
    if expression.pretraining is None:
        return merged
    return _extended(merged, PRETRAINING, PRETRAINING_SPACE)


def _extended(
    facts: LossFacts, parameters: Mapping[str, Parameter], searched: Mapping[str, Real | Int]
) -> LossFacts:
    """The facts with more hyperparameters, and what is searched of these in every space."""
    return replace(
        facts,
        parameters={**facts.parameters, **parameters},
        spaces={
            name: Space({**space.parameters, **searched}) for name, space in facts.spaces.items()
        },
    )


def _prefixed(term: LossTerm, facts: LossFacts) -> LossFacts:
    """The facts with the name of the term before those of its own hyperparameters."""

    def named(values: Mapping[str, T]) -> dict[str, T]:
        own = facts.parameters
        return {f"{term.prefix}.{key}" if key in own else key: it for key, it in values.items()}

    def moved(condition: Condition) -> Condition:
        return replace(condition, parameter=next(iter(named({condition.parameter: None}))))

    return replace(
        facts,
        parameters=named(facts.parameters),
        spaces={name: Space(named(space.parameters)) for name, space in facts.spaces.items()},
        conditions={name: moved(it) for name, it in named(facts.conditions).items()},
        proxies_if=tuple(map(moved, facts.proxies_if)),
    )


def _union(parts: Iterable[Mapping[str, T]]) -> dict[str, T]:
    """All entries; of those of one name the last."""
    return {name: value for part in parts for name, value in part.items()}


def _declared_space(loss: str, declared: object, parameters: Mapping[str, Parameter]) -> Space:
    """What a class says of its own search, in the words of a study file.

    Raises:
        TrialInputError: ``declared`` is no mapping of hyperparameters to ranges or lists.
    """
    try:
        if not isinstance(declared, Mapping) or not declared.keys() <= parameters.keys():
            raise ValueError(f"hyperparameters are {', '.join(parameters)}; got {declared!r}")
        return Space({name: _declared_range(given) for name, given in declared.items()})
    except (TypeError, ValueError) as error:
        raise TrialInputError(
            f"search_space of {loss} must be a mapping of hyperparameters to lists of values or "
            f"ranges {{'low': ..., 'high': ..., 'log': ..., 'step': ...}}; {error}"
        ) from None


def _declared_range(given: Any) -> Real | Int | Choice:
    if isinstance(given, list | tuple):
        return Choice(tuple(given), source="its class")
    is_whole = all(isinstance(given[key], int) for key in given.keys() & {"low", "high"})
    return (Int if is_whole else Real)(**given, source="its class")
