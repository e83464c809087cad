"""Types that describe a hyperparameter: its legal values, and the range that a search covers."""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Literal

__all__ = ["Choice", "Condition", "Int", "Parameter", "Real", "Space", "Value", "existing"]

Value = bool | int | float | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A constructor's parameter: its published default and the values it may legally take.

    Attributes:
        default: published value; None where the parameter has to be given.
        low: lower end of the legal range; None where there is none (``choice``, ``bool``).
        high: upper end of the legal range.
        low_inclusive: whether ``low`` itself is legal.
        high_inclusive: whether ``high`` itself is legal.
        kind: type of the values; ``number`` is whole or not, ``text`` is anything.
        unit: unit of a value (``cosine``, ``degrees``, ``1/cosine``); empty for plain numbers.
        source: paper, table or code that the default comes from.
        choices: the legal values of a ``choice``.
    """

    default: Value | None
    low: float | None = None
    high: float | None = None
    low_inclusive: bool = True
    high_inclusive: bool = True
    kind: Literal["float", "int", "number", "bool", "choice", "text"] = "float"
    unit: str = ""
    source: str = ""
    choices: tuple[Value, ...] = ()

    def __post_init__(self) -> None:
        if self.default is not None and (problem := self.problem_with(self.default)):
            raise ValueError(f"default {problem}")

    @property
    def legal(self) -> str:
        """The legal values in words: ``in (0, 1]``, ``one of 'a', 'b'``."""
        if self.kind == "bool":
            return "true or false"
        if self.kind == "choice":
            return f"one of {', '.join(map(repr, self.choices))}"
        if self.kind == "text":
            return "text"
        if self.low is None and self.high is None:
            return "a whole number" if self.kind == "int" else "a number"
        left = "[" if self.low_inclusive else "("
        right = "]" if self.high_inclusive else ")"
        low = "-inf" if self.low is None else f"{self.low:g}"
        high = "inf" if self.high is None else f"{self.high:g}"
        number = "a whole number " if self.kind == "int" else ""
        return f"{number}in {left}{low}, {high}{right}"

    def problem_with(self, value: object) -> str | None:
        """None if ``value`` is legal, else ``must be in [0, 1], but got 1.5``."""
        return None if self._accepts(value) else f"must be {self.legal}, but got {value!r}"

    def typed(self, value: Value) -> Value:
        """A legal value in the parameter's own type, however it was written: 5 for 5.0."""
        if self.kind == "float":
            return float(value)
        return int(value) if self.kind == "int" else value

    def _accepts(self, value: object) -> bool:
        if self.kind == "bool":
            return isinstance(value, bool)
        if self.kind == "choice":
            return value in self.choices
        if self.kind == "text":
            return isinstance(value, str)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        if not _is_finite(value) or (self.kind == "int" and value != int(value)):
            return False
        return self._above_low(value) and self._below_high(value)

    def _above_low(self, value: float) -> bool:
        return self.low is None or value > self.low or (self.low_inclusive and value == self.low)

    def _below_high(self, value: float) -> bool:
        return (
            self.high is None or value < self.high or (self.high_inclusive and value == self.high)
        )


@dataclass(frozen=True, slots=True)
class Real:
    """A range of real numbers a search draws from, both ends included.

    Attributes:
        low: smallest value tried.
        high: largest value tried.
        log: draw evenly in the logarithm: for scales and rates.
        step: draw only ``low``, ``low + step``, ... up to ``high``; not together with ``log``.
        unit: unit of a value, as in `Parameter`.
        source: paper or table that the range comes from; ``own`` for our recommendation.
    """

    low: float
    high: float
    _: KW_ONLY
    log: bool = False
    step: float | None = None
    unit: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        _check_range(self.low, self.high, self.log, self.step)

    def ends(self) -> tuple[float, float]:
        """The extreme values."""
        return self.low, self.high


@dataclass(frozen=True, slots=True)
class Int:
    """A range of whole numbers a search draws from, both ends included; fields as in `Real`."""

    low: int
    high: int
    _: KW_ONLY
    log: bool = False
    step: int | None = None
    unit: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        for name, value in (("low", self.low), ("high", self.high)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise ValueError(f"{name} of an Int must be a whole number, but got {value!r}")
        _check_range(self.low, self.high, self.log, self.step)

    def ends(self) -> tuple[int, int]:
        """The extreme values."""
        return self.low, self.high


@dataclass(frozen=True, slots=True)
class Choice:
    """Unordered values a search draws from; fields as in `Real`."""

    values: tuple[Value, ...]
    _: KW_ONLY
    unit: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        if not self.values:
            raise ValueError("a Choice needs at least one value, but got none")
        if len(set(self.values)) < len(self.values):
            raise ValueError(f"the values of a Choice must differ, but got {self.values!r}")

    def ends(self) -> tuple[Value, ...]:
        """Every value: none is more extreme than another."""
        return self.values


@dataclass(frozen=True, slots=True)
class Condition:
    """When a hyperparameter exists: while another one has one of some values.

    Attributes:
        parameter: name of the other one.
        values: values of the other one for which it exists; empty if ``above`` decides.
        above: bound that the other one has to exceed; None if ``values`` decide.
    """

    parameter: str
    _: KW_ONLY
    values: tuple[Value, ...] = ()
    above: float | None = None

    def __post_init__(self) -> None:
        if bool(self.values) == (self.above is not None):
            raise ValueError(f"a Condition needs either values or above, but got {self}")

    def holds(self, config: Mapping[str, Value]) -> bool:
        """Whether the hyperparameter exists in ``config``; False without the other one."""
        if self.parameter not in config:
            return False
        value = config[self.parameter]
        if self.above is None:
            return value in self.values
        return isinstance(value, int | float) and value > self.above

    def __str__(self) -> str:
        if self.above is not None:
            return f"{self.parameter} > {self.above:g}"
        return f"{self.parameter} is {' or '.join(map(str, self.values))}"


def existing(config: Mapping[str, Value], conditions: Mapping[str, Condition]) -> dict[str, Value]:
    """The part of ``config`` that exists in it: hyperparameters whose condition holds."""
    return {
        name: value
        for name, value in config.items()
        if name not in conditions or conditions[name].holds(config)
    }


@dataclass(frozen=True, slots=True)
class Space:
    """Named ranges, searched together. An empty space has one point."""

    parameters: Mapping[str, Real | Int | Choice]

    def __post_init__(self) -> None:
        # A copy, so that changes of the given mapping do not change the space.
        object.__setattr__(self, "parameters", dict(self.parameters))

    def problems(self, legal: Mapping[str, Parameter]) -> tuple[str, ...]:
        """What keeps this space from being searched, one line for each problem; empty if nothing.

        Args:
            legal: the parameters that exist, by name.
        """
        problems = []
        for name, tried in self.parameters.items():
            if name not in legal:
                known = ", ".join(legal) or "none"
                problems.append(f"{name}: no such hyperparameter; known: {known}")
                continue
            found = (legal[name].problem_with(end) for end in tried.ends())
            problems += [f"{name}: {problem}" for problem in found if problem]
        return tuple(problems)


def _is_finite(value: float) -> bool:
    """Whether a number is finite as a float, which whole numbers of many digits are not."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _check_range(low: float, high: float, log: bool, step: float | None) -> None:
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"`low < high` must hold with both finite, but got ({low=}, {high=})")
    if log and low <= 0:
        raise ValueError(f"`low > 0` must hold for a logarithmic range, but got {low=}")
    if step is None:
        return
    if log:
        raise ValueError(f"a logarithmic range has no step, but got {step=}")
    if step <= 0:
        raise ValueError(f"`step > 0` must hold, but got {step=}")
    num_steps = (high - low) / step
    if abs(num_steps - round(num_steps)) > 1e-9 * max(1.0, num_steps):
        raise ValueError(
            f"`high - low` must be a multiple of step, but got ({low=}, {high=}, {step=})"
        )
