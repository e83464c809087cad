"""A value with its interval, which several figures show."""

from dataclasses import dataclass
from typing import Self

_PERCENT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A value and, where one can be given, the interval around it."""

    value: float
    low: float | None = None
    high: float | None = None

    @classmethod
    def of_shares(
        cls, value: float | None, low: float | None = None, high: float | None = None
    ) -> Self | None:
        """Shares of 1 in percent; None without a value."""
        if value is None:
            return None
        low, high = (None if end is None else _PERCENT * end for end in (low, high))
        return cls(value=_PERCENT * value, low=low, high=high)
