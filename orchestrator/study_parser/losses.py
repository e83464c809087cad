"""Reads ``losses`` of a study file: names, or mappings with values and a search space."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath

from orchestrator.study.composed_facts import LossFacts
from orchestrator.study.loss_facts import facts_of
from orchestrator.study.study import StudyLoss
from orchestrator.study_parser.file_paths import base_folder
from orchestrator.study_parser.hyperparameters import read_space, read_value, read_values
from orchestrator.study_parser.problems import Path, Problems
from orchestrator.study_parser.yaml_section import Section, label
from orchestrator.study_parser.yaml_tree import Node, SourcePosition
from search_spaces.parameters import Space, Value
from trainables.errors import TrialInputError
from trainables.loss_files import paths_in, read_files
from trainables.settings.loss_expression import parse_loss

_EXAMPLE = "{loss: triplet, values: {margin: 0.2}}"
_KEYS = ("loss", "sum", "values", "space", "try_first")


@dataclass(frozen=True, slots=True)
class _Known:
    """What the list holds so far: its losses by name, and files by theirs."""

    losses: dict[str, StudyLoss] = field(default_factory=dict)
    files: dict[str, FilePath] = field(default_factory=dict)


def read_losses(top: Section, problems: Problems) -> tuple[StudyLoss, ...]:
    """All losses of the study in the order of the file; what is wrong is noted and left out."""
    known = _Known()
    for path, item in top.items("losses"):
        loss = _read_loss(item, path, known, problems)
        if loss is not None:
            known.losses[loss.name] = loss
    return tuple(known.losses.values())


def _read_loss(item: Node, path: Path, known: _Known, problems: Problems) -> StudyLoss | None:
    if isinstance(item.value, dict):
        return _read_mapping(Section(item, path, problems, _KEYS), known, problems)
    if isinstance(item.value, str):
        facts = _new_loss(item.value, item.position, path, path, known, problems)
        return None if facts is None else StudyLoss(facts.name)
    rule = f"{label(path)} must be a name, or a mapping with a loss and a space or values"
    problems.add(path, rule, got=item.plain())
    return None


def _read_mapping(section: Section, known: _Known, problems: Problems) -> StudyLoss | None:
    path = section.path
    if ("loss" in section) == ("sum" in section):
        problems.add(
            path, f"{label(path)} must have a loss or a sum, such as {_EXAMPLE}", choices=_KEYS
        )
        return None
    if "loss" in section:
        key_path, terms, name = (*path, "loss"), {}, section.text("loss", "")
    else:
        key_path, terms = (*path, "sum"), _terms(section, problems)
        name = "+".join(terms)
    node = section.node(str(key_path[-1]))
    if node is None or problems.concern(key_path):
        return None
    facts = _new_loss(name, node.position, path, key_path, known, problems)
    if facts is None:
        return None
    legal = facts.legal_parameters
    weights = _weights(terms, key_path, facts, problems)
    given = section.section("values", tuple(legal))
    values = read_values(given, legal, problems)
    for twice in weights.keys() & values.keys():
        value_path = (*given.path, twice)
        rule = f"{label(value_path)} is given under sum already"
        problems.add(value_path, rule, got=weights[twice])
    try_first = tuple(
        _read_config(item, item_path, facts, problems)
        for item_path, item in section.items("try_first")
    )
    space = _read_own_space(section, facts, problems)
    return StudyLoss(facts.name, space=space, values=weights | values, try_first=try_first)


def _new_loss(
    name: str,
    given_at: SourcePosition,
    path: Path,
    key_path: Path,
    known: _Known,
    problems: Problems,
) -> LossFacts | None:
    """Facts of a loss that is new to the study; None if there is a problem with it."""
    folder = base_folder(given_at)
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


def _read_config(item: Node, path: Path, facts: LossFacts, problems: Problems) -> dict[str, Value]:
    if item.value == {}:
        problems.add(path, f"{label(path)} must have at least one hyperparameter")
    legal = facts.legal_parameters
    return read_values(Section(item, path, problems, tuple(legal)), legal, problems)


def _read_own_space(section: Section, facts: LossFacts, problems: Problems) -> Space | None:
    node = section.node("space")
    if node is None:
        return None
    if isinstance(node.value, str):
        return facts.spaces[section.choice("space", "joint", sorted(facts.spaces))]
    return read_space(node, (*section.path, "space"), facts.legal_parameters, problems)


def _terms(section: Section, problems: Problems) -> dict[str, Node]:
    """Loss -> node of its weight, of ``sum: {multi_similarity: 1, softmax: 0.1}``."""
    node, path = section.node("sum"), (*section.path, "sum")
    terms = node.value if node is not None and isinstance(node.value, dict) else {}
    section.section("sum", tuple(terms))  # notes what is no mapping, and keys given twice
    for name in terms:
        _check_is_one_loss(name, (*path, name), problems)
    if len(terms) < 2 and not problems.concern(path):
        problems.add(path, f"{label(path)} must have at least two losses", got=list(terms))
    return terms


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
    terms: Mapping[str, Node], path: Path, facts: LossFacts, problems: Problems
) -> dict[str, Value]:
    """The weights by the names of their hyperparameters."""
    names = {term: f"{parse_loss(term).terms[0].prefix}.weight" for term in terms}
    read = {
        names[term]: read_value(node, (*path, term), facts.parameters[names[term]], problems)
        for term, node in terms.items()
    }
    return {name: value for name, value in read.items() if value is not None}
