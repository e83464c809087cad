"""Numbers and lists as a reader wants them in a sentence or a table."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

MISSING = "–"
MOST_NAMED = 6  # competitors a sentence names; tables have all
_MINUS = "−"
_NBSP = "\N{NO-BREAK SPACE}"  # keeps a number and its unit on one line
_FILE = re.compile(r"\b[\w-]+\.py:")
# Keys of a study and its provenance whose values are names of losses, or have them as keys.
_OF_LOSSES = ("losses", "loss", "competitors", "against")
_BY_LOSS = ("spaces", "values", "loss_kinds", "geometries", "labels")


def number(value: float | None, digits: int = 2) -> str:
    """``3.17``, ``∞``; a dash for None and NaN; a true minus sign."""
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "∞" if value > 0 else f"{_MINUS}∞"
    text = f"{value:.{digits}f}"
    return text.replace("-", _MINUS) if float(text) else text.removeprefix("-")


def signed(value: float | None, digits: int = 2) -> str:
    """``+1.20`` or ``−0.30``; zero has no sign."""
    text = number(value, digits)
    return f"+{text}" if value is not None and float(f"{value:.{digits}f}") > 0 else text


def percent(share: float | None) -> str:
    """A share of 1 as ``45 %``; shares that would round to 0 or 100 without being so say it."""
    if share is None:
        return MISSING
    text = f"{100 * share:.0f}"
    if share > 0 and float(text) == 0:
        return f"<{_NBSP}1{_NBSP}%"
    if share < 1 and float(text) == 100:
        return f">{_NBSP}99{_NBSP}%"
    return f"{text}{_NBSP}%"


def in_percent(share: float | None) -> float | None:
    """A share of 1 in percent; None stays None."""
    return None if share is None else 100 * share


def p_value(p: float | None) -> str:
    """``0.023``, ``< 0.001``, or a dash for None and NaN."""
    if p is None or p != p:
        return MISSING
    if p < 0.001:
        return f"<{_NBSP}0.001"
    return f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def p_equals(p: float | None) -> str:
    """``p = 0.023`` or ``p < 0.001``."""
    text = p_value(p)
    return f"p{_NBSP}{text}" if text.startswith("<") else f"p{_NBSP}={_NBSP}{text}"


def range_of(low: float | None, high: float | None, digits: int = 2) -> str:
    """``1.20 to 3.40``; a dash if an end is unknown."""
    if low is None or high is None:
        return MISSING
    return f"{number(low, digits)} to {number(high, digits)}"


def range_below(low: float | None, high: float | None, digits: int = 2) -> str:
    """The interval of the number above it; empty if an end is unknown."""
    return "" if low is None or high is None else range_of(low, high, digits)


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """``1 block``, ``8 blocks``, ``1,204 trials``."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def listed(items: Sequence[str], *, last: str = "and", most: int | None = None) -> str:
    """``a``, ``a and b``, ``a, b and c``; beyond ``most`` items ``a, b and 7 others``."""
    if most is not None and len(items) > most + 1:
        items = [*items[:most], f"{len(items) - most} others"]
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"


def duration(seconds: float | None) -> str:
    """``4.2 s``, ``3 min 20 s``, ``2 h 05 min``, ``3 d 4 h``; a dash for None."""
    if seconds is None:
        return MISSING
    if round(seconds, 1) < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    if hours < 48:
        return f"{hours} h {minutes:02d} min"
    return f"{hours // 24} d {hours % 24} h"


def shown_names(names: Iterable[str]) -> dict[str, str]:
    """Name -> what is shown of it: ``MyLoss`` of ``mine.py:MyLoss``, if that is unique."""
    short = {name: _FILE.sub("", name) for name in names}
    counts = Counter(short.values())
    return {name: text for name, text in short.items() if text != name and counts[text] == 1}


def own_names(shown: Mapping[str, str]) -> list[str]:
    """What is shown of the losses in files of one's own."""
    return [text for name, text in shown.items() if _FILE.search(name)]


def renamed(values: Any, shown: Mapping[str, str]) -> Any:
    """Plain values in which losses have their shown names.

    Names in files of one's own are replaced in all texts. Those of podium may be words as well, so
    they are replaced where a study, its provenance or a list of groups names losses.
    """
    if not shown:
        return values
    text = json.dumps(values, ensure_ascii=False)
    for name in sorted(filter(_FILE.search, shown), key=len, reverse=True):
        text = text.replace(name, shown[name])  # the longest first: one may begin another
    return _renamed_at(json.loads(text), shown)


def _renamed_at(values: Any, shown: Mapping[str, str], key: str = "") -> Any:
    match values:
        case dict():
            names = shown if key in _BY_LOSS else {}
            is_of_groups = key == "groups"
            return {
                names.get(it, it): _renamed_at(value, shown, "losses" if is_of_groups else it)
                for it, value in values.items()
            }
        case list():
            return [_renamed_at(value, shown, key) for value in values]
        case str() if key in _OF_LOSSES:
            return shown.get(values, values)
    return values
