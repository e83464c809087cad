"""What a search tried of one hyperparameter: its range, its scale, and places within it.

N trials, V values of a choice. The place of a number is 0 at the lower bound and 1 at the upper
one, in the scale that it was drawn on; the place of a choice is its index.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "SearchedRange",
    "observed_range",
    "ranges_of",
    "searched_range_text",
    "searched_ranges",
    "value_text",
]

_STEPS = 50  # of the grid of a range without steps, as in optuna's evaluator
_SLACK = 1e-9  # of a range: what rounding may put beside its ends


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedRange:
    """The range of a hyperparameter, or the list of its values.

    Attributes:
        low: smallest value drawn; of a choice 0.
        high: largest value drawn; of a choice V - 1.
        log: whether values were drawn evenly in the logarithm.
        step: distance between neighbouring values; None for a continuous range.
        is_whole: whether only whole numbers were drawn.
        values: of a choice, in the order of the space; empty for numbers.
        unit: what a value counts.
        is_recorded: False where the folder does not say what was tried, so that the range is that
            of the values found and the scale is unknown.
    """

    name: str
    low: float
    high: float
    log: bool = False
    step: float | None = None
    is_whole: bool = False
    values: tuple[str | float, ...] = ()
    unit: str = ""
    is_recorded: bool = True

    @property
    def is_choice(self) -> bool:
        """Whether the values have no order."""
        return bool(self.values)

    @property
    def is_constant(self) -> bool:
        """Whether there is nothing to vary."""
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

    def places(self, column: Sequence[Any]) -> NDArray[np.float64]:
        """Place (N,) of every value; NaN for None. Outside the range it is below 0 or above 1.

        Of a choice: the index, or -1 for a value that is not in the list.
        """
        if self.is_choice:
            index = {value: float(place) for place, value in enumerate(self.values)}
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

    def is_within(self, places_N: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which places are inside of what was tried; those that do not exist are."""
        top = len(self.values) - 1 if self.is_choice else 1
        return np.isnan(places_N) | ((places_N >= -_SLACK) & (places_N <= top + _SLACK))

    def value_at(self, place: float) -> float:
        """The number at a place: the inverse of `places` for numbers."""
        if self.log:
            low, high = math.log(self.low), math.log(self.high)
            return math.exp(low + place * (high - low))
        return self.low + place * (self.high - self.low)

    def cells(self, places_N: NDArray[np.float64]) -> NDArray[np.intp]:
        """Index of the grid's nearest cell; -1 where the hyperparameter does not exist."""
        exists = ~np.isnan(places_N)
        cells = np.full(len(places_N), -1, dtype=np.intp)
        if self.is_choice:
            cells[exists] = places_N[exists].astype(np.intp)
            return cells
        # Half way between two cells goes to the lower one, as in optuna, whatever rounding did.
        steps = np.round(places_N[exists] * (self.num_steps - 1), 9)
        near = np.ceil(steps - 0.5).astype(np.intp)
        cells[exists] = np.clip(near, 0, self.num_steps - 1)
        return cells


def searched_ranges(
    provenance: Mapping[str, Any], loss: str, block: str
) -> dict[str, SearchedRange] | None:
    """What the searches of a loss tried in a block, by hyperparameter.

    None if the folder does not say: it was written before spaces were recorded.
    """
    for item in provenance.get("spaces", {}).get(loss, ()):
        if block in item["blocks"]:
            return ranges_of(item["parameters"])
    return None


def ranges_of(parameters: Mapping[str, Any]) -> dict[str, SearchedRange]:
    """A space as the folder records it, by hyperparameter."""
    return {name: _tried(name, given) for name, given in parameters.items()}


def observed_range(name: str, column: Sequence[Any]) -> SearchedRange | None:
    """The range of the values found, for folders that do not say what was tried.

    None if fewer than two values differ. Nothing is said of the scale.
    """
    found = {_plain(value) for value in column if value is not None}
    if len(found) < 2:
        return None
    if any(isinstance(value, str) for value in found):
        values = tuple(sorted(found, key=str))
        return SearchedRange(
            name=name, low=0, high=len(values) - 1, values=values, is_recorded=False
        )
    numbers = [float(value) for value in found]
    return SearchedRange(name=name, low=min(numbers), high=max(numbers), is_recorded=False)


def _tried(name: str, given: Mapping[str, Any]) -> SearchedRange:
    if given["kind"] == "choice":
        values = tuple(_plain(value) for value in given["values"])
        return SearchedRange(
            name=name, low=0, high=len(values) - 1, values=values, unit=given.get("unit", "")
        )
    is_whole = given["kind"] == "int"
    step = given["step"]
    return SearchedRange(
        name=name,
        low=given["low"],
        high=given["high"],
        log=given["log"],
        step=1 if is_whole and step is None and not given["log"] else step,
        is_whole=is_whole,
        unit=given.get("unit", ""),
    )


def _plain(value: object) -> str | float:
    """Numbers as floats, so that 4 and 4.0 are one; truth values and text as text."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return str(value)


def value_text(value: str | float) -> str:
    """A value as a label: ``0.003``, ``1e−05``, ``soft``."""
    return value if isinstance(value, str) else f"{value:.3g}".replace("-", "−")


def searched_range_text(tried: SearchedRange) -> str:
    """``0.1 to 0.9``, ``1e−05 to 0.1, log``, ``soft, hard``."""
    if tried.is_choice:
        return ", ".join(map(value_text, tried.values))
    scale = ", log" if tried.log else "" if tried.is_recorded else " (values found)"
    return f"{value_text(tried.low)} to {value_text(tried.high)}{scale}"
