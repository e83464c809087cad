"""Which values a setting may take. No torch."""

from dataclasses import dataclass
from math import inf, isfinite
from typing import Protocol

__all__ = [
    "MAX_DIM",
    "MAX_IMAGE_SIZE",
    "MAX_SEED",
    "Flag",
    "Interval",
    "OneOf",
    "Range",
    "Whole",
]

# Far above what any network or study has, so that a slip of the pen is refused at once.
MAX_DIM = 100_000
"""Numbers of an embedding."""
MAX_IMAGE_SIZE = 100_000
"""Pixels of a side."""
MAX_SEED = 2**63 - 1
"""Largest whole number that the results store can hold."""


class Range(Protocol):
    """The legal values of one setting."""

    def problem_with(self, value: object) -> str | None:
        """None if ``value`` is legal, else ``must be in [0, 1], but got 1.5``."""


class _Described:
    """Builds the message of `problem_with` from a test and from the words of ``str``."""

    __slots__ = ()

    def _accepts(self, value: object) -> bool:
        raise AssertionError("a range says which values it accepts")

    def problem_with(self, value: object) -> str | None:
        """See `Range.problem_with`."""
        return None if self._accepts(value) else f"must be {self}, but got {value!r}"


def _is_finite(value: float) -> bool:
    """Whether a number is finite as a float, which whole numbers of many digits are not."""
    try:
        return isfinite(value)
    except OverflowError:
        return False


@dataclass(frozen=True, slots=True)
class Interval(_Described):
    """Finite real numbers from ``low`` to ``high``, both included unless said otherwise."""

    low: float
    high: float = inf
    low_inclusive: bool = True

    def _accepts(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        if not _is_finite(value):
            return False
        return self.low < value <= self.high or (self.low_inclusive and value == self.low)

    def __str__(self) -> str:
        high = f"{self.high:g}]" if isfinite(self.high) else "inf)"
        return f"in {'[' if self.low_inclusive else '('}{self.low:g}, {high}"


@dataclass(frozen=True, slots=True)
class Whole(_Described):
    """Whole numbers from ``low`` to ``high``, both included."""

    low: int
    high: float = inf

    def _accepts(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, int):
            return False
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"a whole number {Interval(self.low, self.high)}"


@dataclass(frozen=True, slots=True)
class OneOf(_Described):
    """A list of names."""

    values: tuple[str, ...]

    def _accepts(self, value: object) -> bool:
        return isinstance(value, str) and value in self.values

    def __str__(self) -> str:
        return f"one of {', '.join(map(repr, self.values))}"


@dataclass(frozen=True, slots=True)
class Flag(_Described):
    """True or false."""

    def _accepts(self, value: object) -> bool:
        return isinstance(value, bool)

    def __str__(self) -> str:
        return "true or false"
