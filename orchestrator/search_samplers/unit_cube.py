"""Values of a search space as places between 0 and 1, for samplers that know numbers only.

A logarithmic range is even in the logarithm. What has steps, and a list of values, is cut into
parts of one width each, so that every value is as likely as every other.
"""

import math

from search_spaces.parameters import Choice, Int, Real, Value

__all__ = ["is_inside", "place_of", "value_at"]

# 0.1 * 3 is not 0.3: what a person would write is meant.
_DIGITS = 12
# Of a step: a value that was written with few digits is still on its step.
_STEP_TOLERANCE = 1e-6


def value_at(tried: Real | Int | Choice, place: float) -> Value:
    """The value at ``place``, from 0 to 1 with both ends."""
    if isinstance(tried, Choice):
        return tried.values[_part(place, len(tried.values))]
    if isinstance(tried, Int) and tried.log:
        low, high = _log_ends(tried)
        return min(tried.high, max(tried.low, round(math.exp(low + place * (high - low)))))
    if (step := _step(tried)) is not None:
        value = tried.low + step * _part(place, _num_steps(tried, step) + 1)
        return round(value) if isinstance(tried, Int) else float(f"{value:.{_DIGITS}g}")
    if tried.log:
        value = tried.low * (tried.high / tried.low) ** place
    else:
        value = tried.low + place * (tried.high - tried.low)
    return float(min(tried.high, max(tried.low, value)))


def place_of(tried: Real | Int, value: float) -> float:
    """Where a value of the range lies: the middle of its part if it has steps."""
    if isinstance(tried, Int) and tried.log:
        low, high = _log_ends(tried)
        return (math.log(value) - low) / (high - low)
    if (step := _step(tried)) is not None:
        return (round((value - tried.low) / step) + 0.5) / (_num_steps(tried, step) + 1)
    if tried.log:
        return math.log(value / tried.low) / math.log(tried.high / tried.low)
    return (value - tried.low) / (tried.high - tried.low)


def is_inside(tried: Real | Int | Choice, value: Value) -> bool:
    """Whether the value could be drawn."""
    if isinstance(tried, Choice):
        return value in tried.values
    if isinstance(value, bool | str) or not tried.low <= value <= tried.high:
        return False
    if isinstance(tried, Int) and value != int(value):
        return False
    step = _step(tried)
    if step is None or tried.log:
        return True
    num_steps = (value - tried.low) / step
    return abs(num_steps - round(num_steps)) < _STEP_TOLERANCE


def _part(place: float, num_parts: int) -> int:
    """Which of ``num_parts`` parts of one width; the upper end belongs to the last."""
    return min(num_parts - 1, int(place * num_parts))


def _log_ends(tried: Int) -> tuple[float, float]:
    """Half a number is left on both sides, so that the ends are not drawn half as often."""
    return math.log(tried.low - 0.5), math.log(tried.high + 0.5)


def _step(tried: Real | Int) -> float | None:
    return tried.step or (1 if isinstance(tried, Int) else None)


def _num_steps(tried: Real | Int, step: float) -> int:
    return round((tried.high - tried.low) / step)
