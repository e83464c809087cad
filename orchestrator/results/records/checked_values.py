"""Values of JSON records, each checked for its type: a file may come from anywhere.

Each function gives the value back, or raises ValueError with the name, the rule and the value.
"""

import math
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from orchestrator.results.records.store_paths import is_file_name

__all__ = [
    "LARGEST",
    "amount",
    "checked",
    "count",
    "file_name",
    "is_known",
    "optional",
    "text",
    "time",
]

Check = Callable[[str, Any], Any]

LARGEST = 2**63 - 1
"""The largest whole number that a column holds."""

_SHOWN = 60  # characters that a message shows of a value


def checked(values: Mapping[str, Any], checks: Mapping[str, Check]) -> dict[str, Any]:
    """Values by name, each as the check of its name gives it back."""
    return {name: checks[name](name, value) for name, value in values.items()}


def text(name: str, value: Any) -> str:
    """A text."""
    if type(value) is not str:
        raise _wrong(name, "a text", value)
    return value


def file_name(name: str, value: Any) -> str:
    """A text that names a search or a trial, and leads nowhere as the name of a file."""
    if type(value) is not str or not is_file_name(value):
        raise _wrong(name, "a name of letters, digits and . _ : + @ -", value)
    return value


def count(name: str, value: Any) -> int:
    """A whole number of at least 0."""
    if type(value) is not int or not 0 <= value <= LARGEST:
        raise _wrong(name, "a whole number of at least 0", value)
    return value


def amount(name: str, value: Any) -> float:
    """A finite number of at least 0, as a float."""
    if type(value) not in (int, float) or not 0 <= value < math.inf:
        raise _wrong(name, "a number of at least 0", value)
    return float(value)


def time(name: str, value: Any) -> datetime:
    """A time with its zone, written as ISO 8601."""
    try:
        found = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise _wrong(name, "a time", value) from None
    if found.tzinfo is None:
        raise _wrong(name, "a time with its zone", value)
    return found


def optional(check: Check) -> Check:
    """A check that lets None through."""
    return lambda name, value: None if value is None else check(name, value)


def is_known(*known: str) -> Check:
    """A check that lets some texts through, and nothing else."""

    def check(name: str, value: Any) -> Any:
        if value not in known:
            raise _wrong(name, f"one of {', '.join(known)}", value)
        return value

    return check


def _wrong(name: str, rule: str, value: object) -> ValueError:
    return ValueError(f"{name} must be {rule}; got {value!r:.{_SHOWN}}")
