"""Reads values of a study file into dataclasses; what is wrong is noted.

A dataclass declares keys, types, ranges and defaults, and pydantic checks the values.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType
from typing import Any, TypeVar, get_args, get_type_hints

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from podium.orchestrator.results.records.study_keys import KEYS, RepeatedItemError
from podium.orchestrator.study.study import ResourceSettings, SearchSettings
from podium.orchestrator.study_parser.problems import Problems, label
from podium.orchestrator.study_parser.yaml_tree import Path
from podium.trainables.other_names import usual_name
from podium.trainables.settings.training_settings import TRAINING_TYPES

MAX_ITEMS = 1_000
"""Items of a list of a study file, unless said otherwise."""
MAX_CROSSED = 100
"""Data sets, backbones or protocols, which are compared with each other."""

Keys = TypeVar("Keys")

# Keys that are sought in wrong places -> the section that has them.
_KEYS_OF: Mapping[str, Collection[str]] = {
    "training": ("recipe", *TRAINING_TYPES),
    "search": [field.name for field in fields(SearchSettings)],
    "final": ("seeds", "train_on"),
    "protocol": ("val_fraction", "folds", "split_seed", "classes_file"),
    "resources": [field.name for field in fields(ResourceSettings)],
    "budget": ("gpu_hours", "wall_hours"),
}

# Type of pydantic's error -> what a value must be, with limits from its context.
_WORDS = {
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "greater_than": "a number > {gt:g}",
    "greater_than_equal": "at least {ge}",
    "less_than": "a number < {lt:g}",
    "less_than_equal": "at most {le}",
    "string_type": "text",
    "string_pattern_mismatch": "text that is not blank",
    "bool_type": "true or false",
    "literal_error": "one of the choices",
}


def read_keys(kind: type[Keys], values: object, path: Path, problems: Problems) -> Keys:
    """The values at ``path``, or all defaults if any is wrong.

    Args:
        kind: dataclass whose fields are the keys; all have defaults.
        values: mapping of keys to plain values.
        path: keys from the top of the study to the mapping.
        problems: collects what is wrong.
    """
    if values == {}:  # a schema that nothing needs is not built: it takes milliseconds
        return kind()
    try:
        (read,) = _adapter(kind).validate_python([values])  # type: ignore[arg-type]
        checked: Keys = read
        return checked
    except ValidationError as error:
        for item in error.errors(include_url=False):
            _note(item, kind, path, problems)
        return kind()


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(list[kind], config=KEYS)


def _note(error: ErrorDetails, kind: type, section: Path, problems: Problems) -> None:
    keys, got = error["loc"][1:], error["input"]
    path, context = (*section, *keys), error.get("ctx", {})
    match error["type"]:
        case "missing":
            problems.at(path, "must be given")
        case "unexpected_keyword_argument":
            note_unknown(path, _known_keys(kind, keys[:-1]), problems)
        case "too_long":
            _note_too_long(path, got, context["max_length"], problems)
        case "too_short" | "tuple_type":
            problems.at(path, f"must be {_a_list(got)}", got=got)
        case "value_error":
            found = context["error"]
            if isinstance(found, RepeatedItemError):
                path, got = (*path, found.index), got[found.index]
            problems.at(path, str(found), got=got)
        case _:
            words = _WORDS.get(error["type"], "a mapping").format(**context)
            choices = re.findall("'([^']*)'", context.get("expected", "")) or None
            problems.at(path, f"must be {words}", got=got, choices=choices)


def _known_keys(kind: Any, keys: Path) -> list[str]:
    """The keys of the dataclass that is the value at ``keys`` of another."""
    for key in keys:
        kind = get_type_hints(kind)[str(key)] if is_dataclass(kind) else get_args(kind)[-1]
        if NoneType in get_args(kind):
            kind = get_args(kind)[0]
    hints = get_type_hints(kind, include_extras=True)
    notes = {name: getattr(hint, "__metadata__", ()) for name, hint in hints.items()}
    aliases = {n: it.alias for n in notes for it in notes[n] if isinstance(it, FieldInfo)}
    return [aliases.get(name) or name for name in hints]


def _a_list(got: object) -> str:
    return f"a list with at least one item{f', such as [{got}]' if isinstance(got, str) else ''}"


def note_unknown(path: Path, known: Collection[str], problems: Problems) -> None:
    """Note a key that a section does not have, and the section that has it."""
    section, key = path[:-1], str(path[-1])
    rule = f"unknown key{f' in {label(section)}' if section else ''}"
    place = None if usual_name(key) in known else _place_of(key)
    if place is None or any(isinstance(step, int) for step in section):
        problems.add(path, rule, got=key, choices=known)
    else:
        problems.add(path, f"{rule}: it is {place}", got=key)


def _place_of(key: str) -> str | None:
    """Where a study has this key, or what other tools call so: ``training.epochs``; or None."""
    if key == "seed":
        return "a key at the top of the study"
    for name in (key, usual_name(key)):
        places = [f"{section}.{name}" for section, keys in _KEYS_OF.items() if name in keys]
        if places:
            return " or ".join(places)
    return None


def note_not_taken(
    section: Path, given: Collection[str], kind: str, takes: Mapping[str, str], problems: Problems
) -> None:
    """Note keys that a kind does not take, but other kinds do.

    Args:
        section: keys to the mapping.
        given: its keys.
        kind: kind of protocol or rule.
        takes: kind -> its keys, divided by spaces.
        problems: collects what is wrong.
    """
    own = takes[kind].split()
    for key in dict.fromkeys(" ".join(takes.values()).split()):
        if key in given and key not in own:
            shown = " and ".join(own) or "nothing"
            rule = f"cannot be combined with kind {kind}, which takes {shown}"
            problems.at((*section, key), rule)


def read_mapping(
    values: object, known: Collection[str], path: Path, problems: Problems
) -> dict[str, Any]:
    """The plain values of a mapping in the order of ``known``; other keys are noted."""
    if not isinstance(values, dict):
        problems.at(path, "must be a mapping", got=values)
        return {}
    for key in values:
        if key not in known:
            note_unknown((*path, key), known, problems)
    return {key: values[key] for key in known if key in values}


def read_items(
    values: object, path: Path, problems: Problems, *, most: int = MAX_ITEMS
) -> list[tuple[Path, Any]]:
    """Path and plain value of each item of a list of 1 to ``most`` items; else none."""
    if not isinstance(values, list) or not values:
        problems.at(path, f"must be {_a_list(values)}", got=values)
        return []
    if len(values) > most:
        _note_too_long(path, values, most, problems)
        return []
    return [((*path, index), item) for index, item in enumerate(values)]


def _note_too_long(path: Path, got: Sequence[object], most: int, problems: Problems) -> None:
    problems.at(path, f"must have at most {most} items", got=f"{len(got)} items")
