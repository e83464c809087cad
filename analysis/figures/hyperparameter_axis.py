"""Axes along a hyperparameter: places on its own scale, labelled with its values."""

import math
from collections.abc import Iterable

from matplotlib.ticker import MaxNLocator

from analysis.hyperparameters.searched_ranges import SearchedRange, value_text

__all__ = ["place_ticks"]

_MOST_LETTERS = 9
_FEW_DECADES = 2


def place_ticks(
    tried: SearchedRange, *, is_relative: bool = False, most: int = 4
) -> tuple[list[float], list[str]]:
    """Places with their labels, from the lower end.

    Args:
        tried: the hyperparameter.
        is_relative: its range differs between blocks: labels are shares of the range.
        most: about so many.
    """
    if tried.is_choice:
        labels = [_shortened(str(value)) for value in map(value_text, tried.values)]
        return [float(place) for place in range(len(labels))], labels
    if is_relative:
        return [0.0, 0.5, 1.0], ["0 %", "50 %", "100 %"]
    values = [value for value in _round_values(tried, most) if tried.low <= value <= tried.high]
    return [float(place) for place in tried.places(values)], [value_text(it) for it in values]


def _round_values(tried: SearchedRange, most: int) -> Iterable[float]:
    if not tried.log:
        return [float(value) for value in MaxNLocator(most).tick_values(tried.low, tried.high)]
    first, last = math.floor(math.log10(tried.low)), math.ceil(math.log10(tried.high))
    decades = math.log10(tried.high / tried.low)
    digits = (1, 3) if decades <= _FEW_DECADES else (1,)
    step = max(1, math.ceil(decades / most))
    return [
        digit * 10.0**power
        for power in range(first, last + 1)
        if power % step == 0
        for digit in digits
    ]


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"
