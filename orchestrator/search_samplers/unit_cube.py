"""Maps coordinates in [0, 1] to values of a search space, for samplers of numbers.

A logarithmic range is uniform in the logarithm. Ranges with steps and lists of values are divided
into bins of equal width, so that all values are equally likely.
"""

import math

from podium.search_spaces.parameters import Choice, Int, Real, Value

# 0.1 * 3 is not 0.3: rounded to the number that a user would write.
_DIGITS = 12
# Fraction of a step: a value that was written with few digits is still on its step.
_STEP_TOLERANCE = 1e-6


def value_at(tried: Real | Int | Choice, coordinate: float) -> Value:
    """The value at a coordinate in [0, 1], both ends included."""
    if isinstance(tried, Choice):
        return tried.values[_bin(coordinate, len(tried.values))]
    if isinstance(tried, Int) and tried.log:
        # Widened by a half, so that the end values are not drawn half as often.
        low, high = math.log(tried.low - 0.5), math.log(tried.high + 0.5)
        return min(tried.high, max(tried.low, round(math.exp(low + coordinate * (high - low)))))
    if (step := _step(tried)) is not None:
        return _at_step(tried, step, _bin(coordinate, _num_steps(tried, step) + 1))
    if tried.log:
        value = tried.low * (tried.high / tried.low) ** coordinate
    else:
        value = tried.low + coordinate * (tried.high - tried.low)
    return float(min(tried.high, max(tried.low, value)))


def listed_values(tried: Real | Int | Choice, most: int) -> tuple[Value, ...] | None:
    """At most ``most`` values of a list, whole numbers or a range with steps; else None."""
    if isinstance(tried, Choice):
        return tried.values[:most]
    step = _step(tried)
    if step is None:
        return None
    return tuple(
        _at_step(tried, step, index) for index in range(min(most, _num_steps(tried, step) + 1))
    )


def is_inside(tried: Real | Int | Choice, value: Value) -> bool:
    """Whether the value is in the space: in the range and on a step, or in the list."""
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


def _at_step(tried: Real | Int, step: float, index: int) -> int | float:
    value = tried.low + step * index
    return round(value) if isinstance(tried, Int) else float(f"{value:.{_DIGITS}g}")


def _bin(coordinate: float, num_bins: int) -> int:
    """Index of the bin of a coordinate; 1 belongs to the last bin."""
    return min(num_bins - 1, int(coordinate * num_bins))


def _step(tried: Real | Int) -> float | None:
    return tried.step or (1 if isinstance(tried, Int) else None)


def _num_steps(tried: Real | Int, step: float) -> int:
    return round((tried.high - tried.low) / step)
