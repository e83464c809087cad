"""Reads ``losses`` of a study file: names, or mappings with values and a search space."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Annotated, Any

from pydantic import Field, StrictBool, StrictFloat

from podium.orchestrator.results.records.study_keys import Text
from podium.orchestrator.study.loss_facts import LossFacts, facts_of
from podium.orchestrator.study.study import StudyLoss
from podium.orchestrator.study_parser.file_paths import base_folder
from podium.orchestrator.study_parser.problems import Problems
from podium.orchestrator.study_parser.read_keys import read_items, read_keys, read_mapping
from podium.orchestrator.study_parser.yaml_tree import Path
from podium.search_spaces.parameters import Choice, Int, Real, Space, Value
from podium.trainables.errors import TrialInputError
from podium.trainables.own_files import paths_in, read_files
from podium.trainables.registry import names
from podium.trainables.settings.legal_ranges import Interval, Number, OneOf, Parameter, Whole
from podium.trainables.settings.trial_settings import BASELINES


@dataclass(frozen=True, slots=True, kw_only=True)
class _Keys:
    loss: Text
    values: Any = field(default_factory=dict)
    space: Any = None
    label: Text | None = None


def read_losses(values: object, problems: Problems) -> tuple[StudyLoss, ...]:
    """All losses of the study in the order of the file; what is wrong is noted and left out."""
    known: dict[str, StudyLoss] = {}
    taken: dict[str, str] = {}  # what readers may see -> the loss
    files: dict[str, FilePath] = {}
    for path, item in read_items(values, ("losses",), problems):
        loss = _read_loss(item, path, files, problems)
        if loss is not None and loss.name in known:
            problems.at(path, "is in the list already", got=loss.name)
        elif loss is not None:
            known[loss.name] = loss
            for text in filter(None, {loss.name, loss.name.rpartition(":")[2], loss.label}):
                if taken.setdefault(text, loss.name) != loss.name and text in _labels(known):
                    problems.add(path, f"no label may be what another loss is called; {text} is")
    return tuple(known.values())


def _labels(losses: Mapping[str, StudyLoss]) -> set[str]:
    return {loss.label for loss in losses.values()}


def _read_loss(
    item: object, path: Path, files: dict[str, FilePath], problems: Problems
) -> StudyLoss | None:
    keys = read_keys(_Keys, {"loss": item} if isinstance(item, str) else item, path, problems)
    facts = None if keys is None else _facts(keys.loss, (*path, "loss"), files, problems)
    if keys is None or facts is None:
        return None
    values = read_values(keys.values, facts.legal_parameters, (*path, "values"), problems)
    space = None
    if keys.space is not None:
        space = _read_own_space(keys.space, (*path, "space"), facts, problems)
    label = keys.label or ""
    if label in {*names("losses"), *BASELINES} - {facts.name}:
        problems.at((*path, "label"), "must not be the name of another loss", got=label)
    return StudyLoss(facts.name, space=space, values=values, label=label)


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

    low: Any
    high: Any
    log: StrictBool = False
    step: Annotated[StrictFloat, Field(gt=0)] | None = None


def _tried(
    given: Any, parameter: Parameter, path: Path, problems: Problems
) -> Real | Int | Choice | None:
    """What is searched of a hyperparameter; None if something is wrong, which is noted."""
    keys = None
    if isinstance(given, list):
        items = read_items(given, path, problems)
    elif isinstance(given, dict) and isinstance(parameter.legal, Interval | Whole | Number):
        keys = read_keys(_Range, given, path, problems)
        items = [((*path, key), given[key]) for key in ("low", "high") if keys is not None]
    else:
        shapes = "a range {low, high, log, step} of numbers or a list of values"
        problems.at(path, f"must be {shapes}", got=given)
        return None
    values: Any = [_read_value(item, at, parameter, problems) for at, item in items]
    if problems.concern(path):
        return None
    noted: dict[str, Any] = {"unit": parameter.unit, "source": "study file"}
    try:
        if keys is None:
            return Choice(tuple(values), **noted)
        low, high = values
        is_whole = isinstance(parameter.legal, Whole)
        return _range(low, high, keys, is_whole=is_whole, **noted)
    except ValueError as error:
        problems.at(path, f"is no range: {error}")
        return None


def _range(low: float, high: float, keys: _Range, *, is_whole: bool, **noted: Any) -> Real | Int:
    """The range, as whole as its hyperparameter, or as its ends where any number is legal.

    Raises:
        ValueError: its ends and step do not go together.
    """
    step = keys.step
    if step is not None and (high - low) / step > _MAX_STEPS:
        raise ValueError(f"it must have at most {_MAX_STEPS} steps")
    if is_whole and step is not None and not step.is_integer():
        raise ValueError(f"its step must be a whole number, but got {step:g}")
    if isinstance(low, int) and isinstance(high, int) and (is_whole or step is None):
        return Int(low, high, log=keys.log, step=None if step is None else int(step), **noted)
    return Real(float(low), float(high), log=keys.log, step=step, **noted)
