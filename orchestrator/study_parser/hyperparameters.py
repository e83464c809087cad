"""Reads values and search spaces of hyperparameters, and refuses what is not legal."""

from collections.abc import Mapping

from orchestrator.study_parser.problems import Path, Problems
from orchestrator.study_parser.yaml_section import Section, label
from orchestrator.study_parser.yaml_tree import Node
from search_spaces.parameters import Choice, Int, Real, Space, Value
from trainables.settings.legal_ranges import MAX_SEED, Interval, Number, Parameter, Whole

_MAX_STEPS = 100_000  # of one range: a grid goes through all

_RANGE_KEYS = ("low", "high", "log", "step")


def read_value(node: Node, path: Path, parameter: Parameter, problems: Problems) -> Value | None:
    """The value in the hyperparameter's own type; None if it is not legal, which is noted."""
    value = node.plain()
    if parameter.problem_with(value) is None:
        return parameter.typed(value)
    problems.add(path, f"{label(path)} must be {parameter.legal}", got=value)
    return None


def read_values(
    section: Section, legal: Mapping[str, Parameter], problems: Problems
) -> dict[str, Value]:
    """The legal values of a mapping from hyperparameter to value, in the order of ``legal``."""
    nodes = {name: section.node(name) for name in legal}
    read = {
        name: read_value(node, (*section.path, name), legal[name], problems)
        for name, node in nodes.items()
        if node is not None
    }
    return {name: value for name, value in read.items() if value is not None}


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
    nodes = {name: section.node(name) for name in legal}
    tried = {
        name: _tried(section, name, given, legal[name], problems)
        for name, given in nodes.items()
        if given is not None
    }
    return Space({name: value for name, value in tried.items() if value is not None})


def _tried(
    space: Section, name: str, node: Node, parameter: Parameter, problems: Problems
) -> Real | Int | Choice | None:
    if isinstance(node.value, list):
        return _choice(space, name, parameter, problems)
    is_number = isinstance(parameter.legal, Interval | Whole | Number)
    if isinstance(node.value, dict) and is_number:
        return _range(space.section(name, _RANGE_KEYS), parameter, problems)
    path = (*space.path, name)
    shapes = "a range {low, high, log, step} or a list of values"
    rule = f"{label(path)} must be {shapes if is_number else 'a list of values'}"
    problems.add(path, rule, got=node.plain())
    return None


def _choice(space: Section, name: str, parameter: Parameter, problems: Problems) -> Choice | None:
    values: list[Value] = []
    for path, item in space.items(name):
        value = read_value(item, path, parameter, problems)
        if value in values:
            problems.add(path, f"{label(path)} is in the list already", got=item.plain())
        elif value is not None:
            values.append(value)
    return Choice(tuple(values), unit=parameter.unit, source="study file") if values else None


def _range(section: Section, parameter: Parameter, problems: Problems) -> Real | Int | None:
    low, high = (_end(section, key, parameter, problems) for key in ("low", "high"))
    log = section.boolean("log", False)
    step = _step(section, parameter)
    if low is None or high is None or problems.concern(section.path):
        return None
    if step is not None and (high - low) / step > _MAX_STEPS:
        path = (*section.path, "step")
        problems.add(path, f"{label(path)} must make at most {_MAX_STEPS} steps", got=step)
        return None
    unit, source = parameter.unit, "study file"
    # Without a kind of its own, a parameter is as whole as the ends of its range.
    is_whole = isinstance(low, int) and isinstance(high, int) and not isinstance(step, float)
    try:
        if is_whole:
            whole_step = None if step is None else int(step)
            return Int(int(low), int(high), log=log, step=whole_step, unit=unit, source=source)
        return Real(float(low), float(high), log=log, step=step, unit=unit, source=source)
    except ValueError as error:
        problems.add(section.path, f"{label(section.path)}: {error}")
        return None


def _step(section: Section, parameter: Parameter) -> float | None:
    if section.is_null("step"):
        return None
    if isinstance(parameter.legal, Whole):
        return section.integer("step", 1, low=1, high=MAX_SEED)
    return section.number("step", 1.0, above=0.0)


def _end(section: Section, key: str, parameter: Parameter, problems: Problems) -> float | None:
    node, path = section.node(key), (*section.path, key)
    if node is None:
        problems.add(section.path, f"{label(path)} must be given")
        return None
    value = read_value(node, path, parameter, problems)
    assert not isinstance(value, str)  # ranges are of numbers
    return value
