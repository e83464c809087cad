"""A plot as values; the browser draws it by the script of its kind, ``<kind>.js`` of this room."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """One plot.

    Attributes:
        kind: name of the script that draws it.
        name: unique within the page; letters, digits and ``-``.
        title: text read out as its name.
        values: what is drawn, as JSON has it: None for what is unknown, no NaN.
        label: what distinguishes it from the other plots of its figure; "" if it is the only one.
    """

    kind: str
    name: str
    title: str
    values: Mapping[str, Any]
    label: str = ""


_DIGITS = 6  # significant: more than can be seen


def rounded(value: float | None) -> float | None:
    """The number as plots have it, to six significant digits; None for what is not finite."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{_DIGITS}g}")
