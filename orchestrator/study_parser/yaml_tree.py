"""A YAML text, or plain values, as a tree of values that each know where they were given."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from podium.errors import StudyError

Scalar = str | int | float | bool | None

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
class Node:
    """A scalar, a list of nodes, or a mapping of nodes. The position of an entry is its key's.

    ``twice`` lists keys of a mapping that were given again, with the positions of the repetitions.
    """

    value: Scalar | list["Node"] | dict[str, "Node"]
    position: SourcePosition
    twice: list[tuple[str, SourcePosition]] = field(default_factory=list)

    def plain(self) -> Any:
        """The value alone, without positions."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value


def compose(text: str, source: str, *, has_lines: bool = True) -> Node:
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
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        if root is None:
            return Node({}, SourcePosition(source, 1 if has_lines else None))
        return _convert(root, loader, source, has_lines)
    except yaml.YAMLError as error:
        raise StudyError([_syntax_problem(error, source, has_lines)]) from None


def plain_tree(value: object, source: str = "study") -> Node:
    """The tree of values that a program gave: mappings, lists, texts, numbers, booleans, None.

    A path is read as its text. The position of a value are the keys that lead to it, such as
    ``search.trials`` or ``losses.0.loss``.

    Args:
        value: the values.
        source: position of all of them together.

    Raises:
        StudyError: something in it is none of these, or there is more than a study file may hold.
    """
    left = [_MAX_VALUES]
    return _plain_node(value, (), source, left)


def _plain_node(value: object, keys: tuple[str, ...], source: str, left: list[int]) -> Node:
    position = SourcePosition(".".join(keys) or source)
    left[0] -= 1
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    problem = _plain_problem(value, len(keys), left[0])
    if problem is not None:
        raise StudyError([f"{position}: {problem}"])
    if isinstance(value, Mapping):
        return Node(
            {key: _plain_node(item, (*keys, key), source, left) for key, item in value.items()},
            position,
        )
    if isinstance(value, list | tuple | range):
        return Node(
            [
                _plain_node(item, (*keys, str(index)), source, left)
                for index, item in enumerate(value)
            ],
            position,
        )
    assert value is None or isinstance(value, bool | int | float | str)
    return Node(value, position)


def _plain_problem(value: object, depth: int, num_left: int) -> str | None:
    if num_left < 0:
        return f"a study must have at most {_MAX_VALUES} keys and values"
    if depth > _MAX_DEPTH:
        return f"values must be nested at most {_MAX_DEPTH} deep"
    texts = [value] if isinstance(value, str) else []
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            wrong = next(key for key in value if not isinstance(key, str))
            return f"keys must be text; got {wrong!r}"
        texts = list(value)
    elif not (value is None or isinstance(value, bool | int | float | str | list | tuple | range)):
        kind = type(value).__name__
        return (
            "values must be mappings, lists, texts, numbers, true, false or None; got one of type"
            f" {kind}"
        )
    if any(len(text) > _MAX_CHARACTERS for text in texts):
        return f"a key or value must have at most {_MAX_CHARACTERS} characters"
    return "a key or value must have no zero byte" if any("\0" in text for text in texts) else None


def override(root: Node, keys: Sequence[str], value: Node) -> None:
    """Put ``value`` at ``keys``, in place; mappings on the way are made where there are none.

    A number counts the items of a list from 0. An item that is a name becomes a mapping of it, so
    that ``backbones.0.weights`` may be put beside ``backbones: [resnet50]``.

    Raises:
        StudyError: a list has no such item.
    """
    *way, last = keys
    for number, key in enumerate(way):
        root = (
            _item(root, keys[: number + 1], value) if _is_list(root) else _child(root, key, value)
        )
    if _is_list(root):
        _item(root, keys, value)
        assert isinstance(root.value, list)
        root.value[int(last)] = value
        return
    assert isinstance(root.value, dict)
    root.value[last] = value


def _is_list(node: Node) -> bool:
    return isinstance(node.value, list)


def _child(node: Node, key: str, value: Node) -> Node:
    assert isinstance(node.value, dict)
    child = node.value.setdefault(key, Node({}, value.position))
    if not isinstance(child.value, dict | list):
        child.value, child.position = {}, value.position
    return child


def _item(node: Node, keys: Sequence[str], value: Node) -> Node:
    """The item of a list that the last of ``keys`` counts."""
    assert isinstance(node.value, list)
    *way, last = keys
    if not (last.isdecimal() and int(last) < len(node.value)):
        rule = f"items of {'.'.join(way)} are numbers from 0 to {len(node.value) - 1}"
        raise StudyError([f"{value.position}: {rule}; got {last}"])
    item = node.value[int(last)]
    if not isinstance(item.value, dict | list):
        name = Node(item.value, item.position)
        item.value = {_NAME_KEYS.get(way[-1], "name"): name}
    return item


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
        value = event.value if isinstance(event, yaml.ScalarEvent) else ""
        if len(value) > _MAX_CHARACTERS:
            return f"a key or value must have at most {_MAX_CHARACTERS} characters"
        if "\0" in value:
            return "a key or value must have no zero byte"
        return None


# PyYAML follows YAML 1.1, where 1e-3 is text because it has no dot.
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"),
    list("-+0123456789"),
)


def _convert(node: yaml.Node, loader: _Loader, source: str, has_lines: bool) -> Node:
    position = SourcePosition(source, node.start_mark.line + 1 if has_lines else None)
    if isinstance(node, yaml.SequenceNode):
        return Node([_convert(item, loader, source, has_lines) for item in node.value], position)
    if isinstance(node, yaml.ScalarNode):
        return Node(_scalar(node, loader), position)
    mapping = Node({}, position)
    assert isinstance(mapping.value, dict)
    for key_node, value_node in node.value:
        if not isinstance(key_node, yaml.ScalarNode) or key_node.tag in _SCALAR_TAGS:
            raise yaml.MarkedYAMLError(
                problem=f"keys must be text{_key_hint(key_node, value_node)}",
                problem_mark=key_node.start_mark,
            )
        key_position = SourcePosition(source, key_node.start_mark.line + 1 if has_lines else None)
        value = _convert(value_node, loader, source, has_lines)
        value.position = key_position
        if key_node.value in mapping.value:
            mapping.twice.append((key_node.value, key_position))
        else:
            mapping.value[key_node.value] = value
    return mapping


def _key_hint(key: yaml.Node, value: yaml.Node) -> str:
    """What was given as a key; without a value it is likely the rest of a number with a comma."""
    if not isinstance(key, yaml.ScalarNode):
        return ""
    comma = " (is the comma before it meant as a point?)" if value.value == "" else ""
    return f"; got {key.value}{comma}"


def _scalar(node: yaml.ScalarNode, loader: _Loader) -> Scalar:
    if node.tag not in _SCALAR_TAGS:  # text; dates and times are read as text, too
        return str(node.value)
    try:
        value: Scalar = loader.construct_object(node)
    except ValueError:  # 0x_, or more digits than Python converts
        raise yaml.MarkedYAMLError(
            problem="this is not a number", problem_mark=node.start_mark
        ) from None
    return value


def _syntax_problem(error: yaml.YAMLError, source: str, has_lines: bool) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    if "'\\t'" in problem:
        problem += ": indent by spaces, not by tabs"
    line = f":{mark.line + 1}" if mark is not None and has_lines else ""
    return f"{source}{line}: this is not the YAML of a study; {problem}"
