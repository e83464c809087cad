"""Facts of composed losses: with a memory, as a weighted sum, after a pre-training."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from search_spaces.catalogue import SPACE_NAMES, LossFacts
from search_spaces.parameters import Choice, Condition, Int, Parameter, Real, Space, Value

__all__ = ["pretrained", "summed", "with_memory"]

_MEMORY_PARAMETERS = {
    "memory_size": Parameter(default=1024, low=1, high=1e7, kind="int", unit="images"),
    "memory_weight": Parameter(default=1.0, low=0.0, high=1e6),
    "memory_start_epoch": Parameter(default=2, low=1, high=1e6, kind="int", unit="epoch"),
}
_MEMORY_SPACE = {"memory_weight": Real(0.1, 10.0, log=True, source="own")}
_MEMORY_SOURCE = "Wang et al. 2020, Cross-Batch Memory for Embedding Learning"

_WEIGHT = Parameter(default=1.0, low=0.0, high=1e6)
_WEIGHT_SPACE = Real(0.01, 100.0, log=True, source="own")

_PRETRAINING = {
    "pretraining_epochs": Parameter(default=1, low=0, high=1e6, kind="int", unit="epochs")
}
_PRETRAINING_SPACE = {"pretraining_epochs": Int(1, 5, unit="epochs", source="own")}


def with_memory(facts: LossFacts) -> LossFacts:
    """Facts of the loss with a cross-batch memory."""
    return replace(
        facts,
        name=f"memory:{facts.name}",
        source=f"{facts.source}; {_MEMORY_SOURCE}",
        parameters={**facts.parameters, **_MEMORY_PARAMETERS},
        spaces={
            name: Space({**space.parameters, **_MEMORY_SPACE})
            for name, space in facts.spaces.items()
        },
    )


def summed(name: str, terms: Mapping[str, LossFacts]) -> LossFacts:
    """Facts of a weighted sum.

    Args:
        name: name of the whole expression.
        terms: facts by prefix; if there are several each gets a ``weight``, and all but the first
            one's are searched: only their ratios matter.
    """
    if len(terms) == 1:
        return _joined(name, next(iter(terms.values())).kind, terms)
    first = next(iter(terms))
    weighted = {
        prefix: _with_weight(facts, is_searched=prefix != first) for prefix, facts in terms.items()
    }
    return _joined(name, "sum", weighted)


def pretrained(name: str, first: tuple[str, LossFacts], then: LossFacts) -> LossFacts:
    """Facts of one loss for the first epochs and another for the rest.

    Args:
        name: name of the whole expression.
        first: prefix and facts of the loss of the first epochs.
        then: facts of a sum, or of a prefixed loss; if ``first`` is part of it, its facts are in
            there already.
    """
    prefixed = _joined(first[1].name, first[1].kind, {first[0]: first[1]})
    both = _merged(name, then.kind, (then, prefixed))
    return replace(
        both,
        parameters={**both.parameters, **_PRETRAINING},
        spaces={
            space: Space({**tried.parameters, **_PRETRAINING_SPACE})
            for space, tried in both.spaces.items()
        },
    )


def _with_weight(facts: LossFacts, *, is_searched: bool) -> LossFacts:
    searched = {"weight": _WEIGHT_SPACE} if is_searched else {}
    return replace(
        facts,
        parameters={**facts.parameters, "weight": _WEIGHT},
        spaces={
            name: Space({**space.parameters, **searched}) for name, space in facts.spaces.items()
        },
    )


def _joined(name: str, kind: str, terms: Mapping[str, LossFacts]) -> LossFacts:
    prefixed = [_prefixed(f"{prefix}.", facts) for prefix, facts in terms.items()]
    return _merged(name, kind, prefixed)


def _prefixed(prefix: str, facts: LossFacts) -> LossFacts:
    own = facts.parameters

    def named(name: str) -> str:
        return f"{prefix}{name}" if name in own else name

    return replace(
        facts,
        parameters={named(name): parameter for name, parameter in own.items()},
        spaces={
            space: Space({named(name): tried for name, tried in values.parameters.items()})
            for space, values in facts.spaces.items()
        },
        conditions={
            named(name): replace(condition, parameter=named(condition.parameter))
            for name, condition in facts.conditions.items()
        },
    )


def _merged(name: str, kind: str, parts: Sequence[LossFacts]) -> LossFacts:
    """The facts of all parts together; only the spaces that all of them have."""
    parameters: dict[str, Parameter] = {}
    conditions: dict[str, Condition] = {}
    published: dict[str, Value] = {}
    for part in parts:
        parameters |= part.parameters
        conditions |= part.conditions
        published = {**part.published_training, **published}
    shared = [space for space in SPACE_NAMES if all(space in part.spaces for part in parts)]
    return LossFacts(
        name=name,
        kind=kind,
        needs=frozenset[str]().union(*(part.needs for part in parts)),
        source="; ".join(dict.fromkeys(part.source for part in parts)),
        parameters=parameters,
        spaces={space: _merged_space([part.spaces[space] for part in parts]) for space in shared},
        conditions=conditions,
        published_training=published,
    )


def _merged_space(spaces: Sequence[Space]) -> Space:
    merged: dict[str, Real | Int | Choice] = {}
    for space in spaces:
        merged |= space.parameters
    return Space(merged)
