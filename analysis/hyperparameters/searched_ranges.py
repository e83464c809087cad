"""The range that a search drew a hyperparameter from: its bounds, scale, positions within it.

N trials, V values of a choice. The position of a number is 0 at the lower bound and 1 at the upper
one, in the scale that it was drawn on; the position of a choice is its index.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_STEPS = 50  # of the grid of a range without steps, as in optuna's evaluator
_SLACK = 1e-9  # of a range: by how much rounding may exceed its ends


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedRange:
    """The range of a hyperparameter, or the list of its values.

    Attributes:
        low: lower bound; of a choice 0.
        high: upper bound; of a choice V - 1.
        log: whether values were drawn uniformly in the logarithm.
        step: distance between neighbouring values; None for a continuous range.
        is_whole: whether only whole numbers were drawn.
        values: values of a choice, in the order of the space; empty for numbers.
    """

    low: float
    high: float
    log: bool = False
    step: float | None = None
    is_whole: bool = False
    values: tuple[str | float, ...] = ()

    @property
    def is_choice(self) -> bool:
        """Whether this is a list of values without order."""
        return bool(self.values)

    @property
    def is_constant(self) -> bool:
        """Whether there is a single value."""
        return self.low == self.high

    @property
    def num_steps(self) -> int:
        """Cells of the grid that importances are computed on; those of optuna's evaluator."""
        if self.is_choice:
            return len(self.values)
        if self.is_whole and self.log:
            return min(math.ceil(math.log2(self.high - self.low + 1)) + 1, _STEPS)
        if self.step is not None:
            return min(round((self.high - self.low) / self.step) + 1, _STEPS)
        return _STEPS

    def positions(self, column: Sequence[Any]) -> NDArray[np.float64]:
        """Place (N,) of every value; NaN for None. Outside the range it is below 0 or above 1.

        Of a choice: the index, or -1 for a value that is not in the list.
        """
        if self.is_choice:
            index = {value: float(position) for position, value in enumerate(self.values)}
            return np.array(
                [np.nan if value is None else index.get(_plain(value), -1.0) for value in column]
            )
        values = np.array([np.nan if value is None else float(value) for value in column])
        if self.is_constant:
            return np.where(np.isnan(values), np.nan, 0.0)
        low, high = self.low, self.high
        if self.log:
            with np.errstate(divide="ignore", invalid="ignore"):
                values = np.log(values)
            low, high = math.log(low), math.log(high)
        placed: NDArray[np.float64] = (values - low) / (high - low)
        return placed

    def is_within(self, positions_N: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which positions lie within the range; NaN, where nothing exists, counts as within."""
        top = len(self.values) - 1 if self.is_choice else 1
        return np.isnan(positions_N) | ((positions_N >= -_SLACK) & (positions_N <= top + _SLACK))

    def value_at(self, position: float) -> float:
        """The number at a position: the inverse of `positions` for numbers."""
        if self.log:
            low, high = math.log(self.low), math.log(self.high)
            return math.exp(low + position * (high - low))
        return self.low + position * (self.high - self.low)

    def cells(self, positions_N: NDArray[np.float64]) -> NDArray[np.intp]:
        """Index of the grid's nearest cell; -1 where the hyperparameter does not exist."""
        exists = ~np.isnan(positions_N)
        cells = np.full(len(positions_N), -1, dtype=np.intp)
        if self.is_choice:
            cells[exists] = positions_N[exists].astype(np.intp)
            return cells
        # Half way between two cells goes to the lower one, as in optuna, whatever rounding did.
        steps = np.round(positions_N[exists] * (self.num_steps - 1), 9)
        near = np.ceil(steps - 0.5).astype(np.intp)
        cells[exists] = np.clip(near, 0, self.num_steps - 1)
        return cells


def searched_ranges(
    provenance: Mapping[str, Any], loss: str, block: str
) -> dict[str, SearchedRange]:
    """Hyperparameter -> range that the searches of a loss drew from in a block."""
    for item in provenance.get("spaces", {}).get(loss, ()):
        if block in item["blocks"]:
            return space_ranges(item["parameters"])
    return {}


def space_ranges(parameters: Mapping[str, Any]) -> dict[str, SearchedRange]:
    """Hyperparameter -> range, of a space as the results folder records it."""
    return {name: _recorded_range(given) for name, given in parameters.items()}


def _recorded_range(given: Mapping[str, Any]) -> SearchedRange:
    if given["kind"] == "choice":
        values = tuple(_plain(value) for value in given["values"])
        return SearchedRange(low=0, high=len(values) - 1, values=values)
    is_whole = given["kind"] == "int"
    step = given["step"]
    return SearchedRange(
        low=given["low"],
        high=given["high"],
        log=given["log"],
        step=1 if is_whole and step is None and not given["log"] else step,
        is_whole=is_whole,
    )


def _plain(value: object) -> str | float:
    """Numbers as floats, so that 4 and 4.0 are one; truth values and text as text."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return str(value)


def value_text(value: str | float) -> str:
    """A value as a label: ``0.003``, ``1e−05``, ``soft``."""
    return value if isinstance(value, str) else f"{value:.3g}".replace("-", "−")


def searched_range_text(searched: SearchedRange) -> str:
    """``0.1 to 0.9``, ``1e−05 to 0.1, log``, ``soft, hard``."""
    if searched.is_choice:
        return ", ".join(map(value_text, searched.values))
    scale = ", log" if searched.log else ""
    return f"{value_text(searched.low)} to {value_text(searched.high)}{scale}"
