"""Reads ``losses`` of a study file: names, or mappings with values and a search space."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from podium.orchestrator.results.records.study_keys import Text
from podium.orchestrator.study.composed_facts import LossFacts
from podium.orchestrator.study.loss_facts import facts_of
from podium.orchestrator.study.study import StudyLoss
from podium.orchestrator.study_parser.file_paths import base_folder
from podium.orchestrator.study_parser.hyperparameters import read_space, read_value, read_values
from podium.orchestrator.study_parser.problems import Problems, label
from podium.orchestrator.study_parser.read_keys import read_items, read_keys
from podium.orchestrator.study_parser.yaml_tree import Path
from podium.search_spaces.parameters import Space, Value
from podium.trainables.errors import TrialInputError
from podium.trainables.loss_files import paths_in, read_files
from podium.trainables.settings.loss_expression import parse_loss

_EXAMPLE = "{loss: triplet, values: {margin: 0.2}}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Keys:
    loss: Text | None = None
    sum: Mapping[str, Any] | None = None
    values: Any = field(default_factory=dict)
    space: Any = None
    try_first: Any = None


@dataclass(frozen=True, slots=True)
class _Known:
    """What the list holds so far: its losses by name, and files by theirs."""

    losses: dict[str, StudyLoss] = field(default_factory=dict)
    files: dict[str, FilePath] = field(default_factory=dict)


def read_losses(values: object, problems: Problems) -> tuple[StudyLoss, ...]:
    """All losses of the study in the order of the file; what is wrong is noted and left out."""
    known = _Known()
    for path, item in read_items(values, ("losses",), problems):
        loss = _read_loss(item, path, known, problems)
        if loss is not None:
            known.losses[loss.name] = loss
    return tuple(known.losses.values())


def _read_loss(item: object, path: Path, known: _Known, problems: Problems) -> StudyLoss | None:
    if isinstance(item, str):
        item = {"loss": item}
    if not isinstance(item, dict):
        rule = f"{label(path)} must be a name, or a mapping with a loss and a space or values"
        problems.add(path, rule, got=item)
        return None
    keys = read_keys(_Keys, item, path, problems)
    if ("loss" in item) == ("sum" in item):
        rule = f"{label(path)} must have a loss or a sum, such as {_EXAMPLE}"
        problems.add(path, rule, choices=_Keys.__dataclass_fields__)
        return None
    terms, key_path = keys.sum or {}, (*path, "loss" if "loss" in item else "sum")
    if "sum" in item and not problems.concern(key_path):
        _check_terms(terms, key_path, problems)
    if problems.concern(key_path):
        return None
    facts = _new_loss(keys.loss or "+".join(terms), path, key_path, known, problems)
    if facts is None:
        return None
    legal = facts.legal_parameters
    weights = _weights(terms, key_path, facts, problems)
    values = read_values(keys.values, legal, (*path, "values"), problems)
    for twice in weights.keys() & values.keys():
        value_path = (*path, "values", twice)
        rule = f"{label(value_path)} is given under sum already"
        problems.add(value_path, rule, got=weights[twice])
    try_first = (
        ()
        if "try_first" not in item
        else tuple(
            _read_config(config, config_path, facts, problems)
            for config_path, config in read_items(keys.try_first, (*path, "try_first"), problems)
        )
    )
    space = None
    if "space" in item:
        space = _read_own_space(keys.space, (*path, "space"), facts, problems)
    return StudyLoss(facts.name, space=space, values=weights | values, try_first=try_first)


def _new_loss(
    name: str, path: Path, key_path: Path, known: _Known, problems: Problems
) -> LossFacts | None:
    """Facts of a loss that is new to the study; None if there is a problem with it."""
    folder = base_folder(problems.position(key_path))
    for file in (folder / given for given in paths_in(name)):
        if (other := known.files.setdefault(file.name, file)).resolve() != file.resolve():
            rule = f"two files of losses must differ in name, but there are {other} and {file}"
            problems.add(key_path, rule)
            return None
    try:
        read_files(name, folder)
        facts = facts_of(name)
    except TrialInputError as error:
        problems.add(key_path, str(error))
        return None
    if facts.name in known.losses:
        problems.add(path, f"{label(path)} is in the list already", got=facts.name)
        return None
    return facts


def _read_config(
    config: object, path: Path, facts: LossFacts, problems: Problems
) -> dict[str, Value]:
    if config == {}:
        problems.add(path, f"{label(path)} must have at least one hyperparameter")
    return read_values(config, facts.legal_parameters, path, problems)


def _read_own_space(
    given: object, path: Path, facts: LossFacts, problems: Problems
) -> Space | None:
    if not isinstance(given, str):
        return read_space(given, facts.legal_parameters, path, problems)
    if given not in facts.spaces:
        rule = f"{label(path)} must be one of the choices"
        problems.add(path, rule, got=given, choices=facts.spaces)
    return facts.spaces.get(given)


def _check_terms(terms: Mapping[str, Any], path: Path, problems: Problems) -> None:
    """Note a sum, ``{multi_similarity: 1, softmax: 0.1}``, that is not of two losses or more."""
    for name in terms:
        _check_is_one_loss(name, (*path, name), problems)
    if len(terms) < 2 and not problems.concern(path):
        problems.add(path, f"{label(path)} must have at least two losses", got=list(terms))


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


def _weights(
    terms: Mapping[str, Any], path: Path, facts: LossFacts, problems: Problems
) -> dict[str, Value]:
    """The weights by the names of their hyperparameters."""
    names = {term: f"{parse_loss(term).terms[0].prefix}.weight" for term in terms}
    read = {
        names[term]: read_value(weight, (*path, term), facts.parameters[names[term]], problems)
        for term, weight in terms.items()
    }
    return {name: value for name, value in read.items() if value is not None}
