"""Ticks of an axis along a hyperparameter: positions on its scale, labelled with its values."""

import math
from collections.abc import Iterable

from matplotlib.ticker import MaxNLocator

from analysis.hyperparameters.searched_ranges import SearchedRange, value_text

_MOST_LETTERS = 9
_FEW_DECADES = 2


def axis_ticks(
    searched: SearchedRange, *, is_relative: bool = False, most: int = 4
) -> tuple[list[float], list[str]]:
    """Positions with their labels, from the lower end.

    Args:
        searched: range of the hyperparameter.
        is_relative: whether its range differs between blocks, so that labels are shares of it.
        most: about how many ticks; the values of a choice have one each.
    """
    if searched.is_choice:
        labels = [_shortened(str(value)) for value in map(value_text, searched.values)]
        return [float(index) for index in range(len(labels))], labels
    if is_relative:
        return [0.0, 0.5, 1.0], ["0 %", "50 %", "100 %"]
    values = [
        value for value in _round_values(searched, most) if searched.low <= value <= searched.high
    ]
    positions = [float(position) for position in searched.positions(values)]
    return positions, [value_text(value) for value in values]


def _round_values(searched: SearchedRange, most: int) -> Iterable[float]:
    if not searched.log:
        return [
            float(value) for value in MaxNLocator(most).tick_values(searched.low, searched.high)
        ]
    first, last = math.floor(math.log10(searched.low)), math.ceil(math.log10(searched.high))
    decades = math.log10(searched.high / searched.low)
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
