"""A YAML text, or plain values, as plain values with the place where each of them was given."""

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import yaml

from podium.errors import StudyError

Path = tuple[str | int, ...]
"""Keys from the top of the study to a value; numbers count the items of a list from 0."""

# Largest of one file. A thousand times what studies have; PyYAML reads it in a second.
_MAX_VALUES, _MAX_DEPTH, _MAX_CHARACTERS = 20_000, 50, 4_096

_MAPPING, _TEXT = "tag:yaml.org,2002:map", "tag:yaml.org,2002:str"
# Of scalars that are not text.
_SCALAR_TAGS = {f"tag:yaml.org,2002:{kind}" for kind in ("bool", "int", "float", "null")}


@dataclass(frozen=True, slots=True)
class SourcePosition:
    """Where a value was given: a line of a file, an override, or a key of plain values."""

    source: str
    line: int | None = None

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}:{self.line}"


@dataclass(frozen=True, slots=True)
class Given:
    """What a study file or a program gave, as YAML nodes: each knows its source and line.

    Attributes:
        has_lines: False if line numbers mean nothing, as in an override.
    """

    root: yaml.Node
    source: str
    has_lines: bool

    @property
    def values(self) -> Any:
        """Mappings, lists, texts, numbers, booleans and None."""
        return _Loader("").construct_document(self.root)

    def position(self, path: Path) -> SourcePosition:
        """Where a value was given, that of an entry being its key's; or its nearest ancestor."""
        node, at, found = self.root, self.root, 0
        for key in path:
            if (entry := _entries(node).get(key)) is None:
                break
            (at, node), found = entry, found + 1
        source = at.start_mark.name
        if source != self.source:  # an override
            return SourcePosition(source)
        if self.has_lines:
            return SourcePosition(source, at.start_mark.line + 1)
        return SourcePosition(".".join(map(str, path[:found])) or source)

    def override(self, keys: Sequence[str], new: "Given") -> "Given":
        """The same with the values of ``new`` at ``keys``; missing mappings on the way are made.

        A number counts the items of a list from 0. An item that is a name becomes a mapping of it,
        so that ``backbones.0.weights`` may be put beside ``backbones: [resnet50]``.

        Raises:
            StudyError: a list has no such item.
        """
        return replace(self, root=_with(self.root, keys, 0, new))


@lru_cache(maxsize=64)  # thousands of problems ask for positions within one node
def _entries(node: yaml.Node) -> dict[str | int, tuple[yaml.Node, yaml.Node]]:
    """Key or number -> where the position is, and the value; nothing of scalars."""
    if isinstance(node, yaml.SequenceNode):
        return {index: (item, item) for index, item in enumerate(node.value)}
    is_mapping = isinstance(node, yaml.MappingNode)
    return {key.value: (key, value) for key, value in (node.value if is_mapping else ())}


def _with(node: yaml.Node, keys: Sequence[str], depth: int, new: Given) -> yaml.Node:
    """The node with the values of ``new`` at the keys from ``depth`` on."""
    if depth == len(keys):
        return new.root
    key, marks = keys[depth], (new.root.start_mark, new.root.end_mark)
    if isinstance(node, yaml.SequenceNode):
        items = [*node.value]
        if not (key.isdecimal() and int(key) < len(items)):
            rule = f"items of {'.'.join(keys[:depth])} are numbers from 0 to"
            raise StudyError([f"{new.source}: {rule} {len(items) - 1}; got {key}"])
        item = items[int(key)]
        if isinstance(item, yaml.ScalarNode):
            name = yaml.ScalarNode(
                _TEXT, "loss" if keys[depth - 1] == "losses" else "name", *marks
            )
            item = yaml.MappingNode(_MAPPING, [(name, item)], *marks)
        items[int(key)] = _with(item, keys, depth + 1, new)
        return yaml.SequenceNode(node.tag, items, node.start_mark, node.end_mark)
    entries = {**_entries(node)}
    there = entries[key][1] if key in entries else yaml.MappingNode(_MAPPING, [], *marks)
    entries[key] = (yaml.ScalarNode(_TEXT, key, *marks), _with(there, keys, depth + 1, new))
    return yaml.MappingNode(_MAPPING, [*entries.values()], node.start_mark, node.end_mark)


def plain_tree(value: object, source: str = "study") -> Given:
    """What a program gave: mappings, lists, texts, numbers, booleans, None.

    A path is read as its text. The position of a value are the keys that lead to it, such as
    ``search.trials`` or ``losses.0.loss``; that of all values together is ``source``.

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

    Messages have the name of its source, and lines unless these mean nothing, as in an override.

    Raises:
        StudyError: it is no such YAML; says the line.
    """
    if source.endswith(".csv"):
        raise StudyError([f"{source}: a study is a YAML file; podium tournament ranks tables"])
    try:
        loader = _Loader(text)
        loader.name = source
        start = loader.get_mark()
        root = loader.get_single_node() or yaml.MappingNode(_MAPPING, [], start, start)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
        hint = ": indent by spaces, not by tabs" if "'\\t'" in problem else ""
        at = SourcePosition(source, mark.line + 1 if mark is not None and has_lines else None)
        raise StudyError([f"{at}: this is not the YAML of a study; {problem}{hint}"]) from None
    return Given(root, source, has_lines)


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
        self._refuse(event.start_mark, checks)
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        known = set[str]()
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            is_text = isinstance(key, yaml.ScalarNode) and key.tag not in _SCALAR_TAGS
            twice = is_text and key.value in known
            repeated = (twice, f"{key.value} is given twice")
            self._refuse(key.start_mark, ((not is_text, "keys must be text"), repeated))
            known.add(key.value)
        try:
            if isinstance(node, yaml.ScalarNode):
                self.construct_object(node)
        except ValueError:  # 0x_, or more digits than Python converts
            self._refuse(event.start_mark, ((True, "this is not a number"),))
        return node

    def _refuse(self, mark: Any, checks: Iterable[tuple[object, str]]) -> None:
        for is_broken, problem in checks:
            if is_broken:
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=mark)


# Dates and times are text here, and << is a key like any other.
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in known if tag in _SCALAR_TAGS]
    for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
# PyYAML follows YAML 1.1, where 1e-3 is text because it has no dot.
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"),
    list("-+0123456789"),
)
