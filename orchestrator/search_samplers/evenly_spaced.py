"""Evenly spaced values of a range."""

from search_spaces.parameters import Choice, Int, Real, Value

__all__ = ["spaced_values"]


def spaced_values(tried: Real | Int | Choice, num_points: int) -> tuple[Value, ...]:
    """At most ``num_points`` values of a range, its ends among them if there are two or more.

    A range with steps gives its own points, thinned evenly; one without gives evenly spaced
    values, in the logarithm if it says so. All values of a `Choice` are given.
    """
    if isinstance(tried, Choice):
        return tried.values
    step = tried.step or (1 if isinstance(tried, Int) else None)
    if step is None or tried.log:
        shares = _shares(num_points)
        spaced = [_between(tried.low, tried.high, share, tried.log) for share in shares]
    else:
        num_steps = round((tried.high - tried.low) / step)
        shares = _shares(min(num_points, num_steps + 1))
        spaced = [tried.low + step * round(share * num_steps) for share in shares]
    if isinstance(tried, Int):
        return tuple(dict.fromkeys(round(value) for value in spaced))
    # 0.1 * 3 is not 0.3: what a person would write is meant.
    return tuple(float(f"{value:.12g}") for value in spaced)


def _shares(num_points: int) -> list[float]:
    """Evenly from 0 to 1; the middle if it is one point."""
    if num_points == 1:
        return [0.5]
    return [index / (num_points - 1) for index in range(num_points)]


def _between(low: float, high: float, share: float, log: bool) -> float:
    return float(low * (high / low) ** share if log else low + share * (high - low))
