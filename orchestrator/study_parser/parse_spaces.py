"""Search spaces that a study file states itself, beside the name of a loss."""

from collections.abc import Mapping
from typing import Any

from orchestrator.study_parser.problems import Path, Problems
from orchestrator.study_parser.yaml_section import Section, label
from orchestrator.study_parser.yaml_tree import Node
from search_spaces.parameters import Choice, Int, Parameter, Real, Space

__all__ = ["read_space"]

_RANGE_KEYS = ("low", "high", "log", "step")


def read_space(
    node: Node, path: Path, legal: Mapping[str, Parameter], problems: Problems
) -> Space:
    """The space at ``path``; what is wrong with a parameter is noted and the parameter left out.

    A parameter is a range, ``{low: 4, high: 100, log: true, step: 2}``, or a list of values.

    Args:
        node: the mapping from parameter to what is tried.
        path: where it is.
        legal: the parameters there are, with their legal ranges.
        problems: takes what is wrong.
    """
    section = Section(node, path, problems, tuple(legal))
    if node.value == {}:
        problems.add(path, f"{label(path)} must have at least one parameter", choices=legal)
    tried = {
        name: _tried(section, name, legal[name], problems) for name in legal if name in section
    }
    return Space({name: value for name, value in tried.items() if value is not None})


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
    log = section.flag("log", False)
    step = _step(section, parameter)
    if low is None or high is None or problems.concern(section.path):
        return None
    kind: type[Real] | type[Int] = Real
    cast: type[float] | type[int] = float
    ends = (low, high, 1 if step is None else step)
    if parameter.kind == "int" or (
        parameter.kind == "number" and all(isinstance(end, int) for end in ends)
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
        return section.whole("step", 1, low=1)
    return section.real("step", 1.0, above=0.0)


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
