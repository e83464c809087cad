"""Reads a mapping of the study file key by key; wrong values are noted and get defaults."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from orchestrator.study.study import ResourceSettings, SearchSettings
from orchestrator.study_parser.problems import Path, Problems
from orchestrator.study_parser.yaml_tree import Node
from trainables.other_names import usual_name
from trainables.settings.training_settings import TRAINING_TYPES

MAX_ITEMS = 1_000
"""Items of a list of a study file, unless said otherwise."""
MAX_CROSSED = 100
"""Data sets, backbones or protocols, which are compared with each other."""

Name = TypeVar("Name", bound=str)
Item = TypeVar("Item", str, int)

# Keys that are sought in wrong places -> the section that has them.
_KEYS_OF: Mapping[str, Collection[str]] = {
    "training": ("recipe", *TRAINING_TYPES),
    "search": [field.name for field in fields(SearchSettings)],
    "final": ("seeds", "train_on"),
    "protocol": ("val_fraction", "folds", "split_seed", "classes_file"),
    "resources": [field.name for field in fields(ResourceSettings)],
    "budget": ("gpu_hours", "wall_hours"),
    "metrics": ("verification",),
}


class Section:
    """One mapping of the study file; unknown keys are problems.

    Args:
        node: the mapping; None if it is not given.
        path: keys from the top of the study to it.
        problems: collects what is wrong.
        known: keys that it may have.
    """

    def __init__(self, node: Node | None, path: Path, problems: Problems, known: Sequence[str]):
        self.path = path
        self._problems = problems
        self._entries: dict[str, Node] = {}
        if node is None:
            return
        if not isinstance(node.value, dict):
            problems.add(path, f"{label(path)} must be a mapping", got=node.plain())
            return
        self._entries = node.value
        for key in [key for key in self._entries if key not in known]:
            self._add_unknown(key, known)
        for key, position in node.twice:
            problems.add((*path, key), f"{label((*path, key))} is given twice", position=position)

    def _add_unknown(self, key: str, known: Sequence[str]) -> None:
        rule = f"unknown key{f' in {label(self.path)}' if self.path else ''}"
        place = None if usual_name(key) in known else _place_of(key)
        if place is None or any(isinstance(step, int) for step in self.path):
            self._problems.add((*self.path, key), rule, got=key, choices=known)
        else:
            self._problems.add((*self.path, key), f"{rule}: it is {place}", got=key)

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def is_wrong(self, key: str) -> bool:
        """Whether the value was read and found wrong."""
        return self._problems.concern((*self.path, key))

    def node(self, key: str) -> Node | None:
        """The node at ``key``; None if it is not given."""
        return self._entries.get(key)

    def section(self, key: str, known: Sequence[str]) -> "Section":
        """The mapping at ``key``; empty if it is not given."""
        return Section(self.node(key), (*self.path, key), self._problems, known)

    def is_null(self, key: str) -> bool:
        """Whether the value is not given, or given as null."""
        node = self.node(key)
        return node is None or node.value is None

    def text(self, key: str, default: str) -> str:
        """A text that is not blank."""
        node = self.node(key)
        if node is None:
            return default
        if isinstance(node.value, str) and node.value.strip():
            return node.value
        self._wrong(key, "must be text", node)
        return default

    def choice(self, key: str, default: Name, choices: Sequence[Name]) -> Name:
        """One of ``choices``."""
        node = self.node(key)
        if node is None:
            return default
        for choice in choices:
            if choice == node.value:
                return choice
        self._wrong(key, "must be one of the choices", node, choices)
        return default

    def boolean(self, key: str, default: bool) -> bool:
        """True or false."""
        node = self.node(key)
        if node is None:
            return default
        if isinstance(node.value, bool):
            return node.value
        self._wrong(key, "must be true or false", node)
        return default

    def integer(self, key: str, default: int, *, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``."""
        node = self.node(key)
        if node is None:
            return default
        if type(node.value) is int and low <= node.value <= high:
            return node.value
        self._wrong(key, f"must be {_whole(node.value, low, high)}", node)
        return default

    def number(
        self,
        key: str,
        default: float,
        *,
        above: float = -math.inf,
        low: float = -math.inf,
        high: float = math.inf,
        below: float = math.inf,
    ) -> float:
        """A finite number ``> above``, ``>= low``, ``<= high`` and ``< below``."""
        node = self.node(key)
        if node is None:
            return default
        value = node.value
        if type(value) in (int, float) and _finite(value):
            number = float(value)  # type: ignore[arg-type]
            if above < number < below and low <= number <= high:
                return number
            if number > high:
                self._wrong(key, f"must be a number <= {high:g}", node)
                return default
        bounds = [
            f"{sign} {bound:g}"
            for sign, bound in ((">", above), (">=", low), ("<", below))
            if math.isfinite(bound)
        ]
        self._wrong(key, f"must be a number {' and '.join(bounds)}".rstrip(), node)
        return default

    def number_or_null(
        self,
        key: str,
        default: float | None,
        *,
        above: float = -math.inf,
        low: float = -math.inf,
        high: float = math.inf,
    ) -> float | None:
        """As `number`; null, where it is given, is None."""
        if key not in self:
            return default
        if self.is_null(key):
            return None
        return self.number(key, default or 0.0, above=above, low=low, high=high)

    def texts(
        self,
        key: str,
        default: Sequence[str],
        *,
        may_be_empty: bool = False,
        choices: Sequence[str] | None = None,
    ) -> tuple[str, ...]:
        """A list of different texts, each one of ``choices`` if there are any."""
        node = self.node(key)
        if may_be_empty and node is not None and node.value == []:
            return ()
        rule = "text" if choices is None else f"one of {', '.join(choices)}"

        def problem(value: object) -> str | None:
            is_legal = isinstance(value, str) and (choices is None or value in choices)
            return None if is_legal else rule

        return self._list(key, default, problem, choices)

    def integers(
        self, key: str, default: Sequence[int], *, low: int, high: int
    ) -> tuple[int, ...]:
        """A list of different whole numbers from ``low`` to ``high``."""

        def problem(value: object) -> str | None:
            is_legal = type(value) is int and low <= value <= high
            return None if is_legal else _whole(value, low, high)

        return self._list(key, default, problem)

    def items(
        self, key: str, choices: Sequence[str] | None = None, *, most: int = MAX_ITEMS
    ) -> list[tuple[Path, Node]]:
        """Path and node of each item of a list that must not be empty; none if not given.

        A list of more than ``most`` items is a problem, and none of them is read.
        """
        node = self.node(key)
        if node is None:
            return []
        if not isinstance(node.value, list) or not node.value:
            such = f", such as [{node.value}]" if isinstance(node.value, str) else ""
            self._wrong(key, f"must be a list with at least one item{such}", node, choices)
            return []
        if len(node.value) > most:
            path = (*self.path, key)
            rule = f"{label(path)} must have at most {most} items"
            self._problems.add(path, rule, got=f"{len(node.value)} items")
            return []
        return [((*self.path, key, index), item) for index, item in enumerate(node.value)]

    def _list(
        self,
        key: str,
        default: Sequence[Item],
        problem: Callable[[object], str | None],
        choices: Sequence[str] | None = None,
    ) -> tuple[Item, ...]:
        """Different items without a ``problem``, which says what an item must be."""
        values: list[Item] = []
        for path, item in self.items(key, choices):
            value: Any = item.value
            rule = problem(value)
            if rule is not None:
                self._problems.add(path, f"{label(path)} must be {rule}", got=item.plain())
            elif value in values:
                self._problems.add(path, f"{label(path)} is in the list already", got=value)
            else:
                values.append(value)
        return tuple(values or default)

    def _wrong(
        self, key: str, rule: str, node: Node, choices: Sequence[str] | None = None
    ) -> None:
        path = (*self.path, key)
        self._problems.add(path, f"{label(path)} {rule}", got=node.plain(), choices=choices)


def _place_of(key: str) -> str | None:
    """Where a study has this key, or what other tools call so: ``training.epochs``; or None."""
    if key == "seed":
        return "a key at the top of the study"
    for name in (key, usual_name(key)):
        places = [f"{section}.{name}" for section, keys in _KEYS_OF.items() if name in keys]
        if places:
            return " or ".join(places)
    return None


def label(path: Path) -> str:
    """``losses[1].space.alpha``; an empty path is the study."""
    label = ""
    for key in path:
        label += f"[{key}]" if isinstance(key, int) else f".{key}"
    return label.removeprefix(".") or "the study"


def _whole(value: object, low: int, high: int) -> str:
    """What a value must be that is no whole number from ``low`` to ``high``, in words."""
    too_large = type(value) is int and value > high
    return f"a whole number of at {f'most {high}' if too_large else f'least {low}'}"


def _finite(value: object) -> bool:
    """Whether a number has a finite value as a float."""
    try:
        return math.isfinite(value)  # type: ignore[arg-type]
    except OverflowError:
        return False
