"""A value with its interval, which several figures show."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A value and, where one can be given, the interval around it."""

    value: float
    low: float | None = None
    high: float | None = None
