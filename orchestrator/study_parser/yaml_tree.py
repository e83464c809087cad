"""A YAML text, or plain values, as plain values with the place where each of them was given."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from podium.errors import StudyError

Path = tuple[str | int, ...]
"""Keys from the top of the study to a value; numbers count the items of a list from 0."""

# Largest of one file. A thousand times what studies have; PyYAML reads it in a second.
_MAX_VALUES, _MAX_DEPTH, _MAX_CHARACTERS = 20_000, 50, 4_096

# List -> key of the name in items that are mappings; "name" in all other lists.
_NAME_KEYS = {"losses": "loss"}
# Of scalars that are not text.
_SCALAR_TAGS = {f"tag:yaml.org,2002:{kind}" for kind in ("bool", "int", "float", "null")}


@dataclass(frozen=True, slots=True)
class SourcePosition:
    """Where a value was given: a line of a file, an override, or a key of plain values."""

    source: str
    line: int | None = None

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}:{self.line}"


@dataclass(slots=True)
class Given:
    """What a study file or a program gave.

    Attributes:
        values: mappings, lists, texts, numbers, booleans and None.
        positions: where the values were given, by path; that of an entry is its key's.
        twice: paths of entries that were given again, with the positions of the repetitions.
    """

    values: Any
    positions: dict[Path, SourcePosition]
    twice: list[tuple[Path, SourcePosition]] = field(default_factory=list)

    def position(self, path: Path) -> SourcePosition:
        """Where a value was given, or else its nearest ancestor."""
        while path not in self.positions:
            path = path[:-1]
        return self.positions[path]

    def override(self, keys: Sequence[str], new: "Given") -> None:
        """Put the values of ``new`` at ``keys``; missing mappings on the way are made.

        A number counts the items of a list from 0. An item that is a name becomes a mapping of it,
        so that ``backbones.0.weights`` may be put beside ``backbones: [resnet50]``.

        Raises:
            StudyError: a list has no such item.
        """
        place: Path = ()
        values, position = self.values, new.positions[()]
        for number, key in enumerate(keys):
            step = _index(values, keys[: number + 1], position) if _is_list(values) else key
            place = (*place, step)
            if number == len(keys) - 1:
                values[step] = new.values
            elif _is_list(values) and not isinstance(values[step], dict | list):
                values[step] = {_NAME_KEYS.get(keys[number - 1], "name"): values[step]}
            elif not _is_list(values) and not isinstance(values.get(step), dict | list):
                values[step] = {}
                self._replace_positions(place, {(): position})
            values = values[step]
        self._replace_positions(place, new.positions)

    def _replace_positions(self, place: Path, new: Mapping[Path, SourcePosition]) -> None:
        kept = {at: it for at, it in self.positions.items() if at[: len(place)] != place}
        self.positions = kept | {(*place, *at): it for at, it in new.items()}


def _is_list(values: object) -> bool:
    return isinstance(values, list)


def _index(items: Sequence[object], keys: Sequence[str], position: SourcePosition) -> int:
    """The number of the item of a list that the last of ``keys`` counts."""
    *way, last = keys
    if not (last.isdecimal() and int(last) < len(items)):
        rule = f"items of {'.'.join(way)} are numbers from 0 to {len(items) - 1}"
        raise StudyError([f"{position}: {rule}; got {last}"])
    return int(last)


def compose(text: str, source: str, *, has_lines: bool = True) -> Given:
    """Read YAML of plain values: no anchors, no tags, keys are text, one document.

    Args:
        text: the YAML text.
        source: name of the text in messages, such as the file's.
        has_lines: False if line numbers mean nothing, as in an override.

    Raises:
        StudyError: it is no such YAML; says the line.
    """
    if source.endswith(".csv"):
        raise StudyError([f"{source}: a study is a YAML file; podium tournament ranks tables"])

    def position(node: yaml.Node) -> SourcePosition:
        return SourcePosition(source, node.start_mark.line + 1 if has_lines else None)

    given = Given({}, {})
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        if root is None:
            given.positions[()] = SourcePosition(source, 1 if has_lines else None)
        else:
            given.values = _converted(root, (), given, loader, position)
    except yaml.YAMLError as error:
        raise StudyError([_syntax_problem(error, source, has_lines)]) from None
    return given


def plain_tree(value: object, source: str = "study") -> Given:
    """What a program gave: mappings, lists, texts, numbers, booleans, None.

    A path is read as its text. The position of a value are the keys that lead to it, such as
    ``search.trials`` or ``losses.0.loss``.

    Args:
        value: the values.
        source: position of all of them together.

    Raises:
        StudyError: something in it is none of these, or there is more than a study file may hold.
    """
    given = Given(None, {})
    given.values = _plain_value(value, (), source, given)
    return given


def _plain_value(value: object, path: Path, source: str, given: Given) -> Any:
    position = SourcePosition(".".join(map(str, path)) or source)
    given.positions[path] = position
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if len(given.positions) > _MAX_VALUES:
        raise StudyError([f"{position}: a study must have at most {_MAX_VALUES} keys and values"])
    problem = _plain_problem(value, len(path))
    if problem is not None:
        raise StudyError([f"{position}: {problem}"])
    if isinstance(value, Mapping):
        return {key: _plain_value(it, (*path, key), source, given) for key, it in value.items()}
    if isinstance(value, list | tuple | range):
        return [_plain_value(it, (*path, i), source, given) for i, it in enumerate(value)]
    return value


def _plain_problem(value: object, depth: int) -> str | None:
    if depth > _MAX_DEPTH:
        return f"values must be nested at most {_MAX_DEPTH} deep"
    texts = [value] if isinstance(value, str) else []
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            wrong = next(key for key in value if not isinstance(key, str))
            return f"keys must be text; got {wrong!r}"
        texts = list(value)
    elif not (value is None or isinstance(value, bool | int | float | str | list | tuple | range)):
        return (
            "values must be mappings, lists, texts, numbers, true, false or None; got one of type"
            f" {type(value).__name__}"
        )
    return next(filter(None, map(_text_problem, texts)), None)


def _text_problem(text: str) -> str | None:
    if len(text) > _MAX_CHARACTERS:
        return f"a key or value must have at most {_MAX_CHARACTERS} characters"
    return "a key or value must have no zero byte" if "\0" in text else None


class _Loader(yaml.SafeLoader):
    """Safe, and refuses what a study file does not need: anchors, tags, and masses of values."""

    _num_values = 0
    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        self._num_values += 1
        problem = self._problem_with(event)
        if problem is not None:
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def _problem_with(self, event: yaml.Event) -> str | None:
        if getattr(event, "anchor", None) is not None:
            return "anchors (& and *) are not read"
        if getattr(event, "tag", None) is not None:
            return "tags (!) are not read"
        if self._num_values > _MAX_VALUES:
            return f"it must have at most {_MAX_VALUES} keys and values"
        if self._depth > _MAX_DEPTH:
            return f"values must be nested at most {_MAX_DEPTH} deep"
        return _text_problem(event.value) if isinstance(event, yaml.ScalarEvent) else None


# PyYAML follows YAML 1.1, where 1e-3 is text because it has no dot.
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"),
    list("-+0123456789"),
)


def _converted(
    node: yaml.Node, path: Path, given: Given, loader: _Loader, at: Callable[..., SourcePosition]
) -> Any:
    """The values of a node, whose positions and repeated keys are noted in ``given``."""
    given.positions.setdefault(path, at(node))
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node, loader)
    if isinstance(node, yaml.SequenceNode):
        return [
            _converted(item, (*path, index), given, loader, at)
            for index, item in enumerate(node.value)
        ]
    values: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.tag in _SCALAR_TAGS:
            raise yaml.MarkedYAMLError(
                problem=f"keys must be text{_key_hint(key, value)}", problem_mark=key.start_mark
            )
        key_path = (*path, key.value)
        if key.value in values:
            given.twice.append((key_path, at(key)))
        else:
            given.positions[key_path] = at(key)
            values[key.value] = _converted(value, key_path, given, loader, at)
    return values


def _key_hint(key: yaml.Node, value: yaml.Node) -> str:
    """What was given as a key; without a value it is likely the rest of a number with a comma."""
    if not isinstance(key, yaml.ScalarNode):
        return ""
    comma = " (is the comma before it meant as a point?)" if value.value == "" else ""
    return f"; got {key.value}{comma}"


def _scalar(node: yaml.ScalarNode, loader: _Loader) -> Any:
    if node.tag not in _SCALAR_TAGS:  # text; dates and times are read as text, too
        return str(node.value)
    try:
        return loader.construct_object(node)
    except ValueError:  # 0x_, or more digits than Python converts
        raise yaml.MarkedYAMLError(
            problem="this is not a number", problem_mark=node.start_mark
        ) from None


def _syntax_problem(error: yaml.YAMLError, source: str, has_lines: bool) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    if "'\\t'" in problem:
        problem += ": indent by spaces, not by tabs"
    line = f":{mark.line + 1}" if mark is not None and has_lines else ""
    return f"{source}{line}: this is not the YAML of a study; {problem}"
