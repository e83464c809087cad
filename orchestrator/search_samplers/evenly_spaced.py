"""Evenly spaced values of a range, for grids and sweeps."""

from search_spaces.parameters import Choice, Int, Real, Value


def spaced_values(tried: Real | Int | Choice, num_points: int) -> tuple[Value, ...]:
    """At most ``num_points`` values of a range, its ends among them if there are two or more.

    A range with steps gives its own points, thinned evenly; one without gives evenly spaced
    values, in the logarithm if it says so. All values of a `Choice` are given.
    """
    if isinstance(tried, Choice):
        return tried.values
    step = tried.step or (1 if isinstance(tried, Int) else None)
    if step is None or tried.log:
        fractions = _fractions(num_points)
        spaced = [_between(tried.low, tried.high, fraction, tried.log) for fraction in fractions]
    else:
        num_steps = round((tried.high - tried.low) / step)
        fractions = _fractions(min(num_points, num_steps + 1))
        spaced = [tried.low + step * round(fraction * num_steps) for fraction in fractions]
    if isinstance(tried, Int):
        return tuple(dict.fromkeys(round(value) for value in spaced))
    # 0.1 * 3 is not 0.3: rounded to the number that a user would write.
    return tuple(float(f"{value:.12g}") for value in spaced)


def _fractions(num_points: int) -> list[float]:
    """Fractions from 0 to 1 in equal steps; 0.5 for one point."""
    if num_points == 1:
        return [0.5]
    return [index / (num_points - 1) for index in range(num_points)]


def _between(low: float, high: float, fraction: float, log: bool) -> float:
    return float(low * (high / low) ** fraction if log else low + fraction * (high - low))
