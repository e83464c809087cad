"""Reads ``losses`` of a study file: names, or mappings with values and a search space."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Annotated, Any

from pydantic import Field, StrictBool, StrictFloat, StrictInt

from podium.orchestrator.results.records.study_keys import Text
from podium.orchestrator.study.composed_facts import LossFacts
from podium.orchestrator.study.loss_facts import facts_of
from podium.orchestrator.study.study import StudyLoss
from podium.orchestrator.study_parser.file_paths import base_folder
from podium.orchestrator.study_parser.problems import Problems, label
from podium.orchestrator.study_parser.read_keys import read_items, read_keys, read_mapping
from podium.orchestrator.study_parser.yaml_tree import Path
from podium.search_spaces.parameters import Choice, Int, Real, Space, Value
from podium.trainables.errors import TrialInputError
from podium.trainables.loss_files import paths_in, read_files
from podium.trainables.settings.legal_ranges import (
    MAX_SEED,
    Interval,
    Number,
    OneOf,
    Parameter,
    Whole,
)

_EXAMPLE = "{loss: triplet, values: {margin: 0.2}}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Keys:
    loss: Text | None = None
    values: Any = field(default_factory=dict)
    space: Any = None


def read_losses(values: object, problems: Problems) -> tuple[StudyLoss, ...]:
    """All losses of the study in the order of the file; what is wrong is noted and left out."""
    known: dict[str, StudyLoss] = {}
    files: dict[str, FilePath] = {}
    for path, item in read_items(values, ("losses",), problems):
        loss = _read_loss(item, path, files, problems)
        if loss is not None and loss.name in known:
            problems.add(path, f"{label(path)} is in the list already", got=loss.name)
        elif loss is not None:
            known[loss.name] = loss
    return tuple(known.values())


def _read_loss(
    item: object, path: Path, files: dict[str, FilePath], problems: Problems
) -> StudyLoss | None:
    if isinstance(item, str):
        item = {"loss": item}
    if not isinstance(item, dict):
        rule = f"{label(path)} must be a name, or a mapping with a loss and a space or values"
        problems.add(path, rule, got=item)
        return None
    keys = read_keys(_Keys, item, path, problems)
    if "loss" not in item:
        rule = f"{label(path)} must have a loss, such as {_EXAMPLE}"
        problems.add(path, rule, choices=_Keys.__dataclass_fields__)
        return None
    key_path = (*path, "loss")
    if keys.loss is None or problems.concern(key_path):
        return None
    facts = _facts(keys.loss, key_path, files, problems)
    if facts is None:
        return None
    values = read_values(keys.values, facts.legal_parameters, (*path, "values"), problems)
    space = None
    if "space" in item:
        space = _read_own_space(keys.space, (*path, "space"), facts, problems)
    return StudyLoss(facts.name, space=space, values=values)


def _facts(
    name: str, key_path: Path, files: dict[str, FilePath], problems: Problems
) -> LossFacts | None:
    """Facts of a loss; None if there is a problem with it. Files so far are known by name."""
    folder = base_folder(problems.position(key_path))
    for file in (folder / given for given in paths_in(name)):
        if (other := files.setdefault(file.name, file)).resolve() != file.resolve():
            rule = f"two files of losses must differ in name, but there are {other} and {file}"
            problems.add(key_path, rule)
            return None
    try:
        read_files(name, folder)
        return facts_of(name)
    except TrialInputError as error:
        problems.add(key_path, str(error))
        return None


def _read_own_space(
    given: object, path: Path, facts: LossFacts, problems: Problems
) -> Space | None:
    if not isinstance(given, str):
        return read_space(given, facts.legal_parameters, path, problems)
    if given not in facts.spaces:
        rule = f"{label(path)} must be one of the choices"
        problems.add(path, rule, got=given, choices=facts.spaces)
    return facts.spaces.get(given)


_MAX_STEPS = 100_000  # of one range: a grid goes through all


@dataclass(frozen=True, slots=True, kw_only=True)
class _Range:
    """A range to search; the hyperparameter says which ends are legal."""

    low: Any = None
    high: Any = None
    log: StrictBool = False
    step: Annotated[StrictFloat, Field(gt=0)] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _WholeRange(_Range):
    step: Annotated[StrictInt, Field(ge=1, le=MAX_SEED)] | None = None


def read_value(value: Any, path: Path, parameter: Parameter, problems: Problems) -> Value | None:
    """The value in the hyperparameter's own type; None if it is not legal, which is noted."""
    if parameter.problem_with(value) is None:
        return parameter.typed(value)
    choices = parameter.legal.values if isinstance(parameter.legal, OneOf) else None
    rule = f"{label(path)} must be {'one of the choices' if choices else parameter.legal}"
    problems.add(path, rule, got=value, choices=choices)
    return None


def read_values(
    given: object, legal: Mapping[str, Parameter], path: Path, problems: Problems
) -> dict[str, Value]:
    """The legal values of a mapping from hyperparameter to value, in the order of ``legal``."""
    read = {
        name: read_value(value, (*path, name), legal[name], problems)
        for name, value in read_mapping(given, legal, path, problems).items()
    }
    return {name: value for name, value in read.items() if value is not None}


def read_space(
    given: object, legal: Mapping[str, Parameter], path: Path, problems: Problems
) -> Space:
    """The space at ``path``; what is wrong with a parameter is noted and the parameter left out.

    A parameter is a range, ``{low: 4, high: 100, log: true, step: 2}``, or a list of values.

    Args:
        given: mapping from parameter to range or list of values.
        legal: known parameters with their legal values.
        path: keys to the mapping.
        problems: collects what is wrong.
    """
    if given == {}:
        problems.add(path, f"{label(path)} must have at least one parameter", choices=legal)
    tried = {
        name: _tried(value, legal[name], (*path, name), problems)
        for name, value in read_mapping(given, legal, path, problems).items()
    }
    return Space({name: value for name, value in tried.items() if value is not None})


def _tried(
    given: object, parameter: Parameter, path: Path, problems: Problems
) -> Real | Int | Choice | None:
    if isinstance(given, list):
        return _choice(given, parameter, path, problems)
    is_number = isinstance(parameter.legal, Interval | Whole | Number)
    if isinstance(given, dict) and is_number:
        return _range(given, parameter, path, problems)
    shapes = "a range {low, high, log, step} or a list of values"
    rule = f"{label(path)} must be {shapes if is_number else 'a list of values'}"
    problems.add(path, rule, got=given)
    return None


def _choice(
    given: list[Any], parameter: Parameter, path: Path, problems: Problems
) -> Choice | None:
    values: list[Value] = []
    for item_path, item in read_items(given, path, problems):
        value = read_value(item, item_path, parameter, problems)
        if value in values:
            problems.add(item_path, f"{label(item_path)} is in the list already", got=item)
        elif value is not None:
            values.append(value)
    return Choice(tuple(values), unit=parameter.unit, source="study file") if values else None


def _range(
    given: dict[str, Any], parameter: Parameter, path: Path, problems: Problems
) -> Real | Int | None:
    kind = _WholeRange if isinstance(parameter.legal, Whole) else _Range
    read = read_keys(kind, given, path, problems)
    for key in ("low", "high"):
        if key in given:
            read_value(given[key], (*path, key), parameter, problems)
        else:
            problems.add(path, f"{label((*path, key))} must be given")
    if problems.concern(path):
        return None
    low, high, step = parameter.typed(read.low), parameter.typed(read.high), read.step
    assert not isinstance(low, str)  # ranges are of numbers
    assert not isinstance(high, str)
    if step is not None and (high - low) / step > _MAX_STEPS:
        rule = f"{label((*path, 'step'))} must make at most {_MAX_STEPS} steps"
        problems.add((*path, "step"), rule, got=step)
        return None
    noted: dict[str, Any] = {"log": read.log, "unit": parameter.unit, "source": "study file"}
    # Without a kind of its own, a parameter is as whole as the ends of its range.
    is_whole = isinstance(low, int) and isinstance(high, int) and not isinstance(step, float)
    try:
        if is_whole:
            whole_step = None if step is None else int(step)
            return Int(int(low), int(high), step=whole_step, **noted)
        return Real(float(low), float(high), step=step, **noted)
    except ValueError as error:
        problems.add(path, f"{label(path)}: {error}")
        return None
