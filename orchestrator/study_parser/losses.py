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
            problems.at(path, "is in the list already", got=loss.name)
        elif loss is not None:
            known[loss.name] = loss
    return tuple(known.values())


def _read_loss(
    item: object, path: Path, files: dict[str, FilePath], problems: Problems
) -> StudyLoss | None:
    given = {"loss": item} if isinstance(item, str) else item
    if not isinstance(given, dict):
        rule = "must be a name, or a mapping with a loss and a space or values"
        problems.at(path, rule, got=item)
        return None
    keys = read_keys(_Keys, given, path, problems)
    if "loss" not in given:
        rule = "must have a loss, such as {loss: triplet, values: {margin: 0.2}}"
        problems.at(path, rule, choices=_Keys.__dataclass_fields__)
    facts = None if keys.loss is None else _facts(keys.loss, (*path, "loss"), files, problems)
    if facts is None:
        return None
    values = read_values(keys.values, facts.legal_parameters, (*path, "values"), problems)
    space = None
    if "space" in given:
        space = _read_own_space(keys.space, (*path, "space"), facts, problems)
    return StudyLoss(facts.name, space=space, values=values)


def _facts(
    name: str, path: Path, files: dict[str, FilePath], problems: Problems
) -> LossFacts | None:
    """Facts of a loss; None if there is a problem with it. Files so far are known by name."""
    folder = base_folder(problems.position(path))
    for file in (folder / given for given in paths_in(name)):
        if (other := files.setdefault(file.name, file)).resolve() != file.resolve():
            rule = f"two files of losses must differ in name, but there are {other} and {file}"
            problems.add(path, rule)
            return None
    try:
        read_files(name, folder)
        return facts_of(name)
    except TrialInputError as error:
        problems.add(path, str(error))
        return None


def _read_own_space(
    given: object, path: Path, facts: LossFacts, problems: Problems
) -> Space | None:
    """A space by name, or a mapping from hyperparameter to a range or a list of values.

    A range is ``{low: 4, high: 100, log: true, step: 2}``.
    """
    legal = facts.legal_parameters
    if isinstance(given, str):
        if given not in facts.spaces:
            problems.at(path, "must be one of the choices", got=given, choices=facts.spaces)
        return facts.spaces.get(given)
    if given == {}:
        problems.at(path, "must have at least one parameter", choices=legal)
    tried = {
        name: _tried(value, legal[name], (*path, name), problems)
        for name, value in read_mapping(given, legal, path, problems).items()
    }
    return Space({name: value for name, value in tried.items() if value is not None})


def read_values(
    given: object, legal: Mapping[str, Parameter], path: Path, problems: Problems
) -> dict[str, Value]:
    """The legal values of a mapping from hyperparameter to value, in the order of ``legal``."""
    read = {
        name: _read_value(value, (*path, name), legal[name], problems)
        for name, value in read_mapping(given, legal, path, problems).items()
    }
    return {name: value for name, value in read.items() if value is not None}


def _read_value(value: Any, path: Path, parameter: Parameter, problems: Problems) -> Value | None:
    """The value in the hyperparameter's own type; None if it is not legal, which is noted."""
    if parameter.problem_with(value) is None:
        return parameter.typed(value)
    choices = parameter.legal.values if isinstance(parameter.legal, OneOf) else None
    rule = f"must be {'one of the choices' if choices else parameter.legal}"
    problems.at(path, rule, got=value, choices=choices)
    return None


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


def _tried(
    given: object, parameter: Parameter, path: Path, problems: Problems
) -> Real | Int | Choice | None:
    """What is searched of a hyperparameter; None if something is wrong, which is noted."""
    is_number = isinstance(parameter.legal, Interval | Whole | Number)
    if isinstance(given, dict) and is_number:
        return _range(given, parameter, path, problems)
    if not isinstance(given, list):
        shapes = "a range {low, high, log, step} or a list of values"
        problems.at(path, f"must be {shapes if is_number else 'a list of values'}", got=given)
        return None
    values: list[Value] = []
    for item_path, item in read_items(given, path, problems):
        value = _read_value(item, item_path, parameter, problems)
        if value in values:
            problems.at(item_path, "is in the list already", got=item)
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
            _read_value(given[key], (*path, key), parameter, problems)
        else:
            problems.add(path, f"{label((*path, key))} must be given")
    if problems.concern(path):
        return None
    low, high, step = parameter.typed(read.low), parameter.typed(read.high), read.step
    assert not isinstance(low, str)  # ranges are of numbers
    assert not isinstance(high, str)
    if step is not None and (high - low) / step > _MAX_STEPS:
        problems.at((*path, "step"), f"must make at most {_MAX_STEPS} steps", got=step)
        return None
    noted: dict[str, Any] = {"log": read.log, "unit": parameter.unit, "source": "study file"}
    # Without a kind of its own, a parameter is as whole as the ends of its range.
    is_whole = isinstance(low, int) and isinstance(high, int) and not isinstance(step, float)
    try:
        if is_whole:
            return Int(int(low), int(high), step=None if step is None else int(step), **noted)
        return Real(float(low), float(high), step=step, **noted)
    except ValueError as error:
        problems.add(path, f"{label(path)}: {error}")
        return None
