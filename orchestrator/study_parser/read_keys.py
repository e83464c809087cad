"""Reads values of a study file into dataclasses; what is wrong is noted.

A dataclass declares keys, types, ranges and defaults, and pydantic checks the values.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import is_dataclass
from functools import cache
from types import NoneType
from typing import Any, TypeVar, get_args, get_type_hints

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from podium.orchestrator.results.records.study_keys import KEYS, RepeatedItemError
from podium.orchestrator.study_parser.problems import Problems, label
from podium.orchestrator.study_parser.yaml_tree import Path

MAX_ITEMS = 1_000
"""Items of a list of a study file, unless said otherwise."""
MAX_CROSSED = 100
"""Data sets, backbones or protocols, which are compared with each other."""

Keys = TypeVar("Keys")

# Type of pydantic's error -> what a value must be, where its own words would be no better.
_WORDS = {
    "int_type": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "string_pattern_mismatch": "text that is not blank",
    "bool_type": "true or false",
    "literal_error": "one of the choices",
    "dataclass_type": "a mapping",
    "mapping_type": "a mapping",
}


def read_keys(kind: type[Keys], values: object, path: Path, problems: Problems) -> Keys | None:
    """The values at ``path`` as a dataclass, whose fields are the keys; None if any is wrong."""
    try:
        (read,) = _adapter(kind).validate_python([values])  # type: ignore[arg-type]
        checked: Keys = read
        return checked
    except ValidationError as error:
        for item in error.errors(include_url=False):
            _note(item, kind, path, problems)
        return None


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
            words = _WORDS.get(error["type"], error["msg"].removeprefix("Input should be "))
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
    """Note a key that a section does not have."""
    section, key = path[:-1], str(path[-1])
    rule = f"unknown key{f' in {label(section)}' if section else ''}"
    problems.add(path, rule, got=key, choices=known)


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
