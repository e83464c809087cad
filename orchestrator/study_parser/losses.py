"""Reads ``losses`` of a study file: names, or mappings with values and a search space."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from orchestrator.study.loss_facts import facts_of
from orchestrator.study_parser.problems import Path, Problems
from orchestrator.study_parser.try_first import TRY_FIRST, read_try_first
from orchestrator.study_parser.yaml_section import Section, label
from orchestrator.study_parser.yaml_tree import Node
from search_spaces.catalogue import LossFacts
from search_spaces.parameters import Choice, Int, Parameter, Real, Space, Value
from trainables.errors import TrialInputError
from trainables.settings.legal_ranges import MAX_SEED
from trainables.settings.loss_expression import parse_loss

__all__ = ["StudyLosses", "read_losses", "read_space"]

_KEYS = ("loss", "sum", "values", "space", TRY_FIRST)

_MAX_STEPS = 100_000  # of one range: a grid goes through all

_RANGE_KEYS = ("low", "high", "log", "step")


@dataclass(slots=True)
class StudyLosses:
    """The losses of a study file, by canonical name.

    Attributes:
        names: all losses, in the order of the file.
        spaces: loss -> search space, of losses that state one.
        values: loss -> hyperparameters, of losses that set some.
        try_first: loss -> configs to try first, of losses that give some.
    """

    names: list[str] = field(default_factory=list)
    spaces: dict[str, Space] = field(default_factory=dict)
    values: dict[str, Mapping[str, Value]] = field(default_factory=dict)
    try_first: dict[str, tuple[Mapping[str, Value], ...]] = field(default_factory=dict)


def read_losses(top: Section, problems: Problems) -> StudyLosses:
    """All losses of the study; what is wrong is noted and left out.

    A loss's own space replaces the one that ``search.space`` names.
    """
    losses = StudyLosses()
    for path, item in top.items("losses"):
        if not isinstance(item.value, dict):
            _read_name(item, path, losses, problems)
        else:
            _read_mapping(Section(item, path, problems, _KEYS), losses, problems)
    return losses


def read_space(
    node: Node, path: Path, legal: Mapping[str, Parameter], problems: Problems
) -> Space:
    """The space at ``path``; what is wrong with a parameter is noted and the parameter left out.

    A parameter is a range, ``{low: 4, high: 100, log: true, step: 2}``, or a list of values.

    Args:
        node: mapping from parameter to range or list of values.
        path: keys to the node.
        legal: known parameters with their legal values.
        problems: collects what is wrong.
    """
    section = Section(node, path, problems, tuple(legal))
    if node.value == {}:
        problems.add(path, f"{label(path)} must have at least one parameter", choices=legal)
    tried = {
        name: _tried(section, name, legal[name], problems) for name in legal if name in section
    }
    return Space({name: value for name, value in tried.items() if value is not None})


def _read_name(node: Node, path: Path, losses: StudyLosses, problems: Problems) -> None:
    if isinstance(node.value, str):
        _note(node.value, path, path, losses, problems)
    else:
        rule = f"{label(path)} must be a name, or a mapping with a loss and a space or values"
        problems.add(path, rule, got=node.plain())


def _read_mapping(section: Section, losses: StudyLosses, problems: Problems) -> None:
    path = section.path
    if ("loss" in section) == ("sum" in section):
        problems.add(path, f"{label(path)} must have a loss or a sum", choices=_KEYS)
        return
    if "loss" in section:
        name, key_path, weights = section.text("loss", ""), (*path, "loss"), {}
    else:
        weights, key_path = _weights(section, problems), (*path, "sum")
        name = "+".join(weights)
    if problems.concern(key_path):
        return
    facts = _note(name, path, key_path, losses, problems)
    if facts is None:
        return
    values = _weight_values(section, weights, facts, problems) | _values(section, facts, problems)
    if values:
        losses.values[facts.name] = values
    if first := read_try_first(section, facts.legal_parameters, problems):
        losses.try_first[facts.name] = first
    space = section.node("space")
    if space is None:
        return
    if isinstance(space.value, str):
        chosen = section.choice("space", "joint", sorted(facts.spaces))
        losses.spaces[facts.name] = facts.spaces[chosen]
    else:
        own = read_space(space, (*path, "space"), facts.legal_parameters, problems)
        losses.spaces[facts.name] = own


def _note(
    name: str, path: Path, key_path: Path, losses: StudyLosses, problems: Problems
) -> LossFacts | None:
    """Facts of a loss that is new to the study; None if there is a problem with it."""
    try:
        facts = facts_of(name)
    except TrialInputError as error:
        problems.add(key_path, str(error))
        return None
    if facts.name in losses.names:
        problems.add(path, f"{label(path)} is in the list already", got=facts.name)
        return None
    losses.names.append(facts.name)
    return facts


def _weights(section: Section, problems: Problems) -> dict[str, float]:
    """Loss -> weight, of ``sum: {multi_similarity: 1, softmax: 0.1}``."""
    node = section.node("sum")
    names = list(node.value) if node is not None and isinstance(node.value, dict) else []
    terms = section.section("sum", names)
    weights = {name: terms.number(name, 1.0, low=0.0) for name in names}
    for name in names:
        _check_is_one_loss(name, (*terms.path, name), problems)
    if len(names) < 2 and not problems.concern(terms.path):
        problems.add(terms.path, f"{label(terms.path)} must have at least two losses", got=names)
    return weights


def _check_is_one_loss(name: str, path: Path, problems: Problems) -> None:
    try:
        is_one = parse_loss(name).is_single
    except TrialInputError as error:
        problems.add(path, str(error))
        return
    if not is_one:
        rule = (
            f"a key of {label(path[:-1])} must be one loss; the weights of a sum or a pre-training"
            " are given under values"
        )
        problems.add(path, rule, got=name)


def _weight_values(
    section: Section, weights: Mapping[str, float], facts: LossFacts, problems: Problems
) -> dict[str, Value]:
    """The weights by the names of their hyperparameters."""
    values: dict[str, Value] = {}
    given = section.node("values")
    for term, weight in weights.items():
        name, path = f"{parse_loss(term).terms[0].prefix}.weight", (*section.path, "sum", term)
        parameter = facts.parameters[name]
        if parameter.problem_with(weight) is not None:
            problems.add(path, f"{label(path)} must be {parameter.legal}", got=weight)
        if given is not None and isinstance(given.value, dict) and name in given.value:
            key_path = (*section.path, "values", name)
            problems.add(key_path, f"{label(key_path)} is given under sum already", got=weight)
        values[name] = weight
    return values


def _values(section: Section, facts: LossFacts, problems: Problems) -> dict[str, Value]:
    legal = facts.legal_parameters
    given = section.section("values", tuple(legal))
    values: dict[str, Value] = {}
    for name, parameter in legal.items():
        node = given.node(name)
        if node is None:
            continue
        value = node.plain()
        if parameter.problem_with(value) is not None:
            path = (*given.path, name)
            problems.add(path, f"{label(path)} must be {parameter.legal}", got=value)
        else:
            values[name] = parameter.typed(value)
    return values


def _tried(
    space: Section, name: str, parameter: Parameter, problems: Problems
) -> Real | Int | Choice | None:
    path = (*space.path, name)
    node = space.node(name)
    assert node is not None
    if isinstance(node.value, list):
        return _choice(space, name, parameter, problems)
    is_number = parameter.kind in ("float", "int", "number")
    if not isinstance(node.value, dict) or not is_number:
        shapes = "a range {low, high, log, step} or a list of values"
        rule = f"{label(path)} must be {shapes if is_number else 'a list of values'}"
        problems.add(path, rule, got=node.plain())
        return None
    return _range(space.section(name, _RANGE_KEYS), parameter, problems)


def _choice(space: Section, name: str, parameter: Parameter, problems: Problems) -> Choice | None:
    values: list[Any] = []
    for path, item in space.items(name):
        value = item.plain()
        if parameter.problem_with(value) is not None:
            problems.add(path, f"{label(path)} must be {parameter.legal}", got=value)
        elif value in values:
            problems.add(path, f"{label(path)} is in the list already", got=value)
        else:
            values.append(parameter.typed(value))
    return Choice(tuple(values), unit=parameter.unit, source="study file") if values else None


def _range(section: Section, parameter: Parameter, problems: Problems) -> Real | Int | None:
    low, high = (_end(section, key, parameter, problems) for key in ("low", "high"))
    log = section.boolean("log", False)
    step = _step(section, parameter)
    if low is None or high is None or problems.concern(section.path):
        return None
    if step is not None and (high - low) / step > _MAX_STEPS:
        rule = f"{label((*section.path, 'step'))} must make at most {_MAX_STEPS} steps"
        problems.add((*section.path, "step"), rule, got=step)
        return None
    kind: type[Real] | type[Int] = Real
    cast: type[float] | type[int] = float
    numbers = (low, high, 1 if step is None else step)
    if parameter.kind == "int" or (
        parameter.kind == "number" and all(isinstance(number, int) for number in numbers)
    ):
        kind, cast = Int, int
    try:
        return kind(
            cast(low),  # type: ignore[arg-type]
            cast(high),  # type: ignore[arg-type]
            log=log,
            step=None if step is None else cast(step),  # type: ignore[arg-type]
            unit=parameter.unit,
            source="study file",
        )
    except ValueError as error:
        problems.add(section.path, f"{label(section.path)}: {error}")
        return None


def _step(section: Section, parameter: Parameter) -> float | None:
    if section.is_null("step"):
        return None
    if parameter.kind == "int":
        return section.integer("step", 1, low=1, high=MAX_SEED)
    return section.number("step", 1.0, above=0.0)


def _end(section: Section, key: str, parameter: Parameter, problems: Problems) -> float | None:
    node = section.node(key)
    path = (*section.path, key)
    if node is None:
        problems.add(section.path, f"{label(path)} must be given")
        return None
    value = node.value
    if parameter.problem_with(value) is None and isinstance(value, int | float):
        return value
    problems.add(path, f"{label(path)} must be {parameter.legal}", got=node.plain())
    return None
