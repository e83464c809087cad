"""What is known of a loss, alone or composed: with a memory, as a sum, after a pre-training."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeVar

from podium.orchestrator.study.training_parameters import TRAINING_PARAMETERS, space_around
from podium.search_spaces.composed_losses import MEMORY_SPACE, PRETRAINING_SPACE, WEIGHT_SPACE
from podium.search_spaces.named_spaces import NAMED_SPACES
from podium.search_spaces.parameters import Choice, Condition, Int, Published, Real, Space, Value
from podium.search_spaces.training_parameters import PROXY_PARAMETERS, TRAINING_SPACES
from podium.trainables.errors import TrialInputError, unknown_name
from podium.trainables.settings.legal_ranges import Parameter
from podium.trainables.settings.loss_expression import (
    MEMORY,
    PRETRAINING,
    WEIGHT,
    LossExpression,
    LossTerm,
)

T = TypeVar("T")

_CLASS = "its class"

_MEMORY_SOURCE = "Wang et al. 2020, Cross-Batch Memory for Embedding Learning"


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
        """Whether the loss trains parameters of its own in one of these configs.

        Args:
            configs: values of all hyperparameters.
        """
        if "proxies" not in self.needs or not self.proxies_if:
            return "proxies" in self.needs
        return any(condition.holds(config) for config in configs for condition in self.proxies_if)

    def joined_space(
        self, space: str | Space, tune: Sequence[str], training: Mapping[str, Value] | None = None
    ) -> Space:
        """A space of its own hyperparameters together with training parameters.

        Args:
            space: name of a space (``joint``, ``psomas2020``, ``reality_check``), or a space.
            tune: names of training parameters. Those of proxies join only where the loss has
                some, so one list serves all losses of a study.
            training: training parameters of the loss where no search varies them; ranges lie
                around them. None: around the defaults.
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


def with_memory(facts: LossFacts) -> LossFacts:
    """Facts of the loss with a cross-batch memory."""
    named = replace(facts, name=f"memory:{facts.name}", source=f"{facts.source}; {_MEMORY_SOURCE}")
    return _extended(named, MEMORY, MEMORY_SPACE)


def composed(expression: LossExpression, facts: Mapping[LossTerm, LossFacts]) -> LossFacts:
    """Facts of a weighted sum, or of a loss after a pre-training.

    If there are several terms each gets a ``weight``, and all but the first one's are searched:
    only their ratios matter.

    Args:
        expression: the terms.
        facts: facts of each.
    """
    first, *others = expression.terms
    parts = [_prefixed(first, facts[first], WEIGHT if others else {})]
    parts += [_prefixed(term, facts[term], WEIGHT, WEIGHT_SPACE) for term in others]
    kind = "sum" if others else facts[first].kind
    if expression.pretraining is None:
        return _merged(str(expression), kind, parts)
    parts.append(_prefixed(expression.pretraining, facts[expression.pretraining], {}))
    return _extended(_merged(str(expression), kind, parts), PRETRAINING, PRETRAINING_SPACE)


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


def _prefixed(
    term: LossTerm,
    facts: LossFacts,
    parameters: Mapping[str, Parameter],
    searched: Mapping[str, Real | Int] = MappingProxyType({}),
) -> LossFacts:
    """The facts of a term, with more hyperparameters, whose names begin with that of the term."""
    facts = _extended(facts, parameters, searched)
    own = facts.parameters

    def named(name: str) -> str:
        return f"{term.prefix}.{name}" if name in own else name

    def moved(condition: Condition) -> Condition:
        return replace(condition, parameter=named(condition.parameter))

    return replace(
        facts,
        parameters={named(name): parameter for name, parameter in own.items()},
        spaces={
            space: Space({named(name): tried for name, tried in values.parameters.items()})
            for space, values in facts.spaces.items()
        },
        conditions={named(name): moved(it) for name, it in facts.conditions.items()},
        proxies_if=tuple(map(moved, facts.proxies_if)),
    )


def _merged(name: str, kind: str, parts: Sequence[LossFacts]) -> LossFacts:
    """The facts of all parts together; only the spaces that all of them have."""
    # Not if a part has proxies in each config.
    are_conditional = all(part.proxies_if for part in parts if "proxies" in part.needs)
    shared = [space for space in NAMED_SPACES if all(space in part.spaces for part in parts)]
    return LossFacts(
        name=name,
        kind=kind,
        needs=frozenset[str]().union(*(part.needs for part in parts)),
        source="; ".join(dict.fromkeys(part.source for part in parts)),
        parameters=_union(part.parameters for part in parts),
        spaces={
            space: Space(_union(part.spaces[space].parameters for part in parts))
            for space in shared
        },
        conditions=_union(part.conditions for part in parts),
        proxies_if=tuple(it for part in parts for it in part.proxies_if)
        if are_conditional
        else (),
        published_training=_union(part.published_training for part in reversed(parts)),
    )


def _union(parts: Iterable[Mapping[str, T]]) -> dict[str, T]:
    """All entries; of those of one name the last."""
    return {name: value for part in parts for name, value in part.items()}


def declared_space(loss: str, declared: object, parameters: Mapping[str, Parameter]) -> Space:
    """What a class says of its own search.

    Args:
        loss: name of the loss, for messages.
        declared: its ``search_space``, in the words of a study file.
        parameters: its hyperparameters by name.

    Raises:
        TrialInputError: ``declared`` is no mapping of hyperparameters to ranges or lists.
    """
    if not isinstance(declared, Mapping):
        raise TrialInputError(
            f"search_space of {loss} must be a mapping, such as"
            f" {{'margin': {{'low': 0.1, 'high': 0.9}}}}; got {declared!r}"
        )
    if unknown := [name for name in declared if name not in parameters]:
        raise unknown_name(f"hyperparameter in search_space of {loss}", unknown[0], parameters)
    return Space(
        {
            name: _range(f"{name} in search_space of {loss}", given)
            for name, given in declared.items()
        }
    )


def _range(where: str, given: object) -> Real | Int | Choice:
    try:
        if isinstance(given, list | tuple):
            return Choice(tuple(given), source=_CLASS)
        if isinstance(given, Mapping):
            is_whole = all(isinstance(given.get(key), int) for key in ("low", "high"))
            return (Int if is_whole else Real)(**given, source=_CLASS)
        problem = f"got {given!r}"
    except (TypeError, ValueError) as error:
        problem = str(error)
    raise TrialInputError(
        f"{where} must be a range {{'low': ..., 'high': ..., 'log': ..., 'step': ...}} or a list"
        f" of values; {problem}"
    )
