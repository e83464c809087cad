"""Collects all problems of a study file, so that they are reported together."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from podium.errors import StudyError
from podium.orchestrator.study_parser.yaml_tree import Given, Path, SourcePosition
from podium.trainables.errors import near_names

_NOT_GIVEN = object()
_LONGEST_VALUE = 60
_LONGEST_PROBLEM = 2_000
_MAX_SHOWN = 10


class Problems:
    """The problems of one study, each with the path of the value that it is about."""

    def __init__(self, given: Given) -> None:
        self._given = given
        self._found: list[tuple[SourcePosition, str, Any, Sequence[str] | None]] = []
        self._concerned: set[Path] = set()  # of every problem, and all that it is within

    def add(
        self,
        path: Path | str,
        rule: str,
        *,
        got: Any = _NOT_GIVEN,
        choices: Iterable[str] | None = None,
    ) -> None:
        """Note a problem: the rule that must hold, the value if there is one, all known values.

        The path has the keys to the value, or is a text such as ``search.trials``; a value that is
        not given has the position of its nearest ancestor.
        """
        path = _keys(path)
        names = None if choices is None else sorted(choices)
        self._found.append((self._given.position(path), rule, got, names))
        self._concerned.update(path[:length] for length in range(len(path) + 1))

    def at(self, path: Path | str, rule: str, **shown: Any) -> None:
        """As `add`, of a rule that begins with the key, such as ``must be text``."""
        self.add(path, f"{label(_keys(path))} {rule}", **shown)

    def concern(self, *paths: Path | str) -> bool:
        """Whether any of these values, or what is within them, was found wrong already.

        Rules on several values are then skipped: a wrong value was replaced by its default.
        """
        return not self._concerned.isdisjoint(map(_keys, paths))

    def raise_any(self) -> None:
        """Raise the first ten problems in the order of the file, overrides last, and their number.

        Raises:
            StudyError: there is a problem.
        """
        if self._found:
            ordered = sorted(self._found, key=lambda found: found[0].line or float("inf"))
            shown = [_text(*found) for found in ordered[:_MAX_SHOWN]]
            raise StudyError(shown, num_more=len(ordered) - len(shown))

    def position(self, path: Path) -> SourcePosition:
        """Where the value at ``path`` was given, or else its nearest ancestor."""
        return self._given.position(path)


def _keys(path: Path | str) -> Path:
    return tuple(path.split(".")) if isinstance(path, str) else path


def label(path: Path) -> str:
    """``losses[1].space.alpha``; an empty path is the study."""
    label = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
    return label.removeprefix(".") or "the study"


def _text(where: SourcePosition, rule: str, got: Any, names: Sequence[str] | None) -> str:
    parts = [rule]
    if got is not _NOT_GIVEN:
        shown = json.dumps(got, ensure_ascii=False, default=str)
        is_long = len(shown) > _LONGEST_VALUE
        parts.append(f"got {shown[: _LONGEST_VALUE - 3] + '...' if is_long else shown}")
    if names is not None:
        near = near_names(got, names) if isinstance(got, str) else []
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        parts.append(f"{hint}choices: {', '.join(names) or 'none'}")
    text = f"{where}: {'; '.join(parts)}"
    return text if len(text) <= _LONGEST_PROBLEM else f"{text[:_LONGEST_PROBLEM]}..."
