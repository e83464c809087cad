"""Everything that is wrong with a study, gathered so that it is said at once."""

import difflib
import json
from collections.abc import Iterable
from typing import Any

from orchestrator.errors import StudyError
from orchestrator.study_parser.yaml_tree import Node, Place

__all__ = ["Path", "Problems"]

# Keys from the top of the study to a value; numbers count the items of a list from 0.
Path = tuple[str | int, ...]

_NOT_GIVEN = object()
_LONGEST_VALUE = 60


class Problems:
    """The problems of one study, each at the place in the tree that it is about."""

    def __init__(self, root: Node) -> None:
        self._root = root
        self._found: list[tuple[Place, str]] = []
        self._paths: set[Path] = set()

    def add(
        self,
        path: Path,
        rule: str,
        *,
        got: Any = _NOT_GIVEN,
        choices: Iterable[str] | None = None,
        place: Place | None = None,
    ) -> None:
        """Note a problem.

        Args:
            path: what it is about; a value that is not in the study stands where its nearest
                ancestor does.
            rule: what must hold.
            got: the offending value.
            choices: all values that are known; the nearest to a text ``got`` are said first.
            place: where it stands, if not where ``path`` does.
        """
        parts = [rule]
        if got is not _NOT_GIVEN:
            parts.append(f"got {_shown(got)}")
        if choices is not None:
            parts.append(_choices(got, sorted(choices)))
        self._found.append((place or self._place_of(path), "; ".join(parts)))
        self._paths.add(path)

    def concern(self, *paths: Path) -> bool:
        """Whether any of these values, or what is within them, was found wrong already.

        Rules on several values are skipped then: they would be judged by a stand-in.
        """
        return any(found[: len(path)] == path for path in paths for found in self._paths)

    def raise_any(self) -> None:
        """Raise all problems in the order of the file, overrides last."""
        if self._found:
            ordered = sorted(self._found, key=lambda entry: entry[0].line or float("inf"))
            raise StudyError([f"{place}: {text}" for place, text in ordered])

    def _place_of(self, path: Path) -> Place:
        node = self._root
        for key in path:
            child = _child(node, key)
            if child is None:
                break
            node = child
        return node.place


def _child(node: Node, key: str | int) -> Node | None:
    if isinstance(node.value, dict) and isinstance(key, str):
        return node.value.get(key)
    if isinstance(node.value, list) and isinstance(key, int) and key < len(node.value):
        return node.value[key]
    return None


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 3] + "..."


def _choices(got: Any, names: list[str]) -> str:
    near = difflib.get_close_matches(got, names, n=3) if isinstance(got, str) else []
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    return f"{hint}choices: {', '.join(names) or 'none'}"
