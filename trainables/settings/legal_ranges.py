"""Which values a setting may take, and what a hyperparameter is. No torch."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, isfinite
from sys import float_info
from typing import Any, ClassVar

from podium.trainables.registry import names

# Far above what any network or study has, so that a slip of the pen is refused at once.
MAX_DIM = 100_000
"""Numbers of an embedding."""
MAX_IMAGE_SIZE = 100_000
"""Pixels of a side."""
MAX_SEED = 2**63 - 1
"""Largest whole number that the results store can hold."""


@dataclass(frozen=True)
class Range:
    """The legal values of one setting; ``str`` has them in words: ``in (0, 1]``.

    Attributes:
        kind: type that any of them has, or can be given.
        words: what they are, unless a subclass says more.
    """

    kind: ClassVar[type]
    words: ClassVar[str]

    def _accepts(self, value: object) -> bool:
        """Whether ``value`` is legal: of its kind, unless a subclass says more."""
        return isinstance(value, self.kind)

    def __str__(self) -> str:
        return self.words

    def problem_with(self, value: object) -> str | None:
        """None if ``value`` is legal, else ``must be in [0, 1], but got 1.5``."""
        return None if self._accepts(value) else f"must be {self}, but got {value!r}"


class Number(Range):
    """Every finite number, whole or not."""

    kind = float
    words = "a number"

    def _accepts(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return abs(value) <= float_info.max  # NaN is not, either


@dataclass(frozen=True, slots=True)
class Interval(Range):
    """Finite real numbers from ``low`` to ``high``, both included unless said otherwise."""

    kind = float
    low: float
    high: float = inf
    low_inclusive: bool = True

    def _accepts(self, value: object) -> bool:
        if not Number()._accepts(value):
            return False
        assert isinstance(value, int | float)
        return self.low < value <= self.high or (self.low_inclusive and value == self.low)

    def __str__(self) -> str:
        high = f"{self.high:g}]" if isfinite(self.high) else "inf)"
        return f"in {'[' if self.low_inclusive else '('}{self.low:g}, {high}"


@dataclass(frozen=True, slots=True)
class Whole(Range):
    """Whole numbers from ``low`` to ``high``, both included."""

    kind = int
    low: int
    high: float = inf

    def _accepts(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, int):
            return False
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"a whole number {Interval(self.low, self.high)}"


@dataclass(frozen=True, slots=True)
class OneOf(Range):
    """A list of names."""

    kind = str
    values: tuple[str, ...]

    def _accepts(self, value: object) -> bool:
        return isinstance(value, str) and value in self.values

    def __str__(self) -> str:
        return f"one of {', '.join(map(repr, self.values))}"


def entry_of(package: str) -> OneOf:
    """The names of a catalogue, such as ``"miners"``; see `trainables.registry`."""
    return OneOf(names(package))


class Flag(Range):
    """True or false."""

    kind = bool
    words = "true or false"


class Text(Range):
    """Any text."""

    kind = str
    words = "text"


@dataclass(frozen=True, slots=True)
class Parameter:
    """What is known of a hyperparameter, wherever it is searched.

    Attributes:
        default: the value that ``source`` prints, or ours; None where it has to be given.
        legal: the values it may take.
        unit: unit of a value (``cosine``, ``degrees``, ``1/cosine``); empty for plain numbers.
        source: paper, table or code that the default comes from; ``own`` where none prints one.
    """

    default: bool | int | float | str | None
    legal: Range
    unit: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        if self.default is not None and (problem := self.problem_with(self.default)):
            raise ValueError(f"default {problem}")

    def typed(self, value: Any) -> bool | int | float | str:
        """A legal value in the hyperparameter's own type, however it was written: 5 for 5.0."""
        if isinstance(self.legal, Interval) and self.legal._accepts(value):
            return float(value)
        is_whole = isinstance(self.legal, Whole) and isinstance(value, float)
        return int(value) if is_whole and value.is_integer() else value

    def problem_with(self, value: object) -> str | None:
        """None if ``value`` is legal, else ``must be in [0, 1], but got 1.5``."""
        is_legal = self.legal._accepts(self.typed(value))
        return None if is_legal else f"must be {self.legal}, but got {value!r}"


DECLARATIONS: Mapping[str, Callable[..., Any]] = {
    made.__name__: made for made in (frozenset, Flag, Parameter, Interval, OneOf, Whole, entry_of)
}
"""What a loss declares itself with in literals; see `trainables.registry.literals`."""
