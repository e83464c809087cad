"""An axis along a hyperparameter as values: its scale, its ends, and positions as its values."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.figures.plot import rounded
from analysis.hyperparameters.searched_ranges import SearchedRange, value_text

_DIGITS = 3  # significant: as values are written


def axis_values(searched: SearchedRange, *, is_relative: bool) -> dict[str, Any]:
    """The axis as JSON has it.

    Args:
        searched: range of the hyperparameter.
        is_relative: whether its range differs between blocks, so that the axis has shares of it.
    """
    axis: dict[str, Any] = {"name": searched.name, "unit": searched.unit}
    if searched.is_choice:
        return {**axis, "scale": "choice", "values": list(map(value_text, searched.values))}
    if is_relative:
        return {**axis, "scale": "share", "low": 0, "high": 1}
    scale = "log" if searched.log else "linear"
    return {**axis, "scale": scale, "low": rounded(searched.low), "high": rounded(searched.high)}


def along(
    searched: SearchedRange, positions: NDArray[np.float64], *, is_relative: bool
) -> list[float | None]:
    """Positions as they are on the axis: values, indices of a choice, shares of the range.

    None where the hyperparameter does not exist.

    Args:
        searched: range of the hyperparameter.
        positions: positions within it.
        is_relative: whether its range differs between blocks.
    """
    if searched.is_choice:
        return [rounded(position) for position in positions.tolist()]
    if is_relative:
        return [_shortened(position) for position in positions.tolist()]
    values = [searched.value_at(position) for position in positions.tolist()]
    if searched.is_whole:
        return [rounded(round(value, 1)) for value in values]
    return list(map(_shortened, values))


def _shortened(value: float) -> float | None:
    return rounded(float(f"{value:.{_DIGITS}g}"))


def short_gains(gains: Iterable[float]) -> list[float | None]:
    """Gains in points, to two decimals, as they are written."""
    return [rounded(round(float(gain), 2)) for gain in gains]
