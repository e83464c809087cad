"""The ranges that a search covers."""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass

Value = bool | int | float | str


@dataclass(frozen=True, slots=True)
class Real:
    """A range of real numbers a search draws from, both ends included.

    Attributes:
        low: smallest value tried.
        high: largest value tried.
        log: draw evenly in the logarithm: for scales and rates.
        step: draw only ``low``, ``low + step``, ... up to ``high``; not together with ``log``.
        unit: unit of a value; where a loss declares it, it is filled in from there.
        source: paper or table that the range comes from; ``own`` for our recommendation.
    """

    low: float
    high: float
    _: KW_ONLY
    log: bool = False
    step: float | None = None
    unit: str = ""
    source: str = "own"

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
    source: str = "own"

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
    source: str = "own"

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


@dataclass(frozen=True, slots=True)
class Published:
    """A value of a training parameter that a publication states for one loss.

    Attributes:
        value: as stated.
        source: paper, table or code that states it.
    """

    value: Value
    _: KW_ONLY
    source: str


@dataclass(frozen=True, slots=True)
class Every:
    """Every legal value of a name or a flag."""


Ranges = Mapping[str, Real | Int | Choice | Every]
"""What is tried of a loss, by hyperparameter."""


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
