"""A YAML text, or plain values, as plain values with the place where each of them was given."""

import json
import os
import re
from collections.abc import Mapping, Sequence
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

    def override(self, keys: Sequence[str], new: "Given", source: str) -> None:
        """Put the values of ``new`` at ``keys``; missing mappings on the way are made.

        A number counts the items of a list from 0. An item that is a name becomes a mapping of it,
        so that ``backbones.0.weights`` may be put beside ``backbones: [resnet50]``.

        Args:
            keys: keys from the top of the study.
            new: what is put there.
            source: position of all of it.

        Raises:
            StudyError: a list has no such item.
        """
        place: Path = ()
        parent, position = self.values, SourcePosition(source)
        for number, key in enumerate(keys):
            if isinstance(parent, list):
                if not (key.isdecimal() and int(key) < len(parent)):
                    rule = f"items of {'.'.join(keys[:number])} are numbers from 0 to"
                    raise StudyError([f"{source}: {rule} {len(parent) - 1}; got {key}"])
                place = (*place, int(key))
                there = parent[int(key)]
                made = {_NAME_KEYS.get(keys[number - 1], "name"): there}
            else:
                place = (*place, key)
                there, made = parent.get(key), {}
            is_last, is_new = number == len(keys) - 1, not isinstance(there, dict | list)
            if is_last or is_new:
                parent[place[-1]] = new.values if is_last else made
            if is_last or (is_new and not isinstance(parent, list)):
                kept = {at: it for at, it in self.positions.items() if at[: len(place)] != place}
                self.positions = {**kept, place: position}
            parent = parent[place[-1]]
        self.twice += [((*place, *path), position) for path, _ in new.twice]


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
    try:
        text = json.dumps(value, default=_plain, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        words = "mappings, lists, texts, numbers, true, false or None"
        raise StudyError([f"{source}: values must be {words}; {error}"]) from None
    return compose(text, source, has_lines=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, range) else os.fspath(value)


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
    given = Given({}, {(): SourcePosition(source, 1 if has_lines else None)})
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        if root is not None:
            given.positions[()] = _position(root, (), given)
            given.values = _converted(root, (), given, loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
        hint = ": indent by spaces, not by tabs" if "'\\t'" in problem else ""
        at = SourcePosition(source, mark.line + 1 if mark is not None and has_lines else None)
        raise StudyError([f"{at}: this is not the YAML of a study; {problem}{hint}"]) from None
    return given


class _Loader(yaml.SafeLoader):
    """Safe, and refuses what a study file does not need: anchors, tags, and masses of values."""

    _num_values = 0
    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        self._num_values += 1
        text = str(getattr(event, "value", ""))
        checks = (
            (getattr(event, "anchor", None), "anchors (& and *) are not read"),
            (getattr(event, "tag", None), "tags (!) are not read"),
            (self._num_values > _MAX_VALUES, f"it has more than {_MAX_VALUES} keys and values"),
            (self._depth > _MAX_DEPTH, f"values must be nested at most {_MAX_DEPTH} deep"),
            (len(text) > _MAX_CHARACTERS, f"a text has more than {_MAX_CHARACTERS} characters"),
            ("\0" in text, "a key or value must have no zero byte"),
        )
        for is_broken, problem in checks:
            if is_broken:
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


# PyYAML follows YAML 1.1, where 1e-3 is text because it has no dot.
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"),
    list("-+0123456789"),
)


def _converted(node: yaml.Node, path: Path, given: Given, loader: _Loader) -> Any:
    """The values of a node, whose positions and repeated keys are noted in ``given``."""
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node, loader)
    if isinstance(node, yaml.SequenceNode):
        items = []
        for index, item in enumerate(node.value):
            at = (*path, index)
            given.positions[at] = _position(item, at, given)
            items.append(_converted(item, at, given, loader))
        return items
    values: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.tag in _SCALAR_TAGS:
            raise yaml.MarkedYAMLError(problem="keys must be text", problem_mark=key.start_mark)
        key_path = (*path, key.value)
        position = _position(key, key_path, given)
        if key.value in values:
            given.twice.append((key_path, position))
        else:
            given.positions[key_path] = position
            values[key.value] = _converted(value, key_path, given, loader)
    return values


def _position(node: yaml.Node, path: Path, given: Given) -> SourcePosition:
    source, line = given.positions[()].source, given.positions[()].line
    if line is None:
        return SourcePosition(".".join(map(str, path)) or source)
    return SourcePosition(source, node.start_mark.line + 1)


def _scalar(node: yaml.ScalarNode, loader: _Loader) -> Any:
    if node.tag not in _SCALAR_TAGS:  # text; dates and times are read as text, too
        return str(node.value)
    try:
        return loader.construct_object(node)
    except ValueError:  # 0x_, or more digits than Python converts
        raise yaml.MarkedYAMLError(
            problem="this is not a number", problem_mark=node.start_mark
        ) from None
