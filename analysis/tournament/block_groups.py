"""What the test of a tournament counts as independent: data sets, backbones, blocks or runs.

A loss that suits a data set suits it with every backbone and embedding dimension, so blocks of one
data set repeat each other in part. Whoever asks whether an order holds on other data sets has as
many independent answers as there are data sets.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from podium.analysis.estimates.confidence_intervals import Interval, grouped_interval
from podium.analysis.wording import counted, listed

_NOUNS = {"dataset": "data set", "backbone": "backbone"}  # columns that a test can ask beyond
_BLOCK = "setting"
_DIGITS = 12  # of a mean over blocks, so that equal means tie whatever their rounding


@dataclass(frozen=True, kw_only=True)
class Units:
    """The independent units of a test, or why there is none.

    Attributes:
        noun: what a unit is: ``data set``, ``backbone``, ``setting``, or a run such as ``seed``.
        labels: unit of each block, or of each run.
        question: what the test answers.
        why_untested: why there are too few units for any test; empty if there are enough.
    """

    noun: str
    labels: tuple[str, ...]
    question: str
    why_untested: str

    @property
    def number(self) -> int:
        """Count of units."""
        return len(set(self.labels))

    @property
    def counted(self) -> str:
        """Their number: ``8 data sets``."""
        return counted(self.number, self.noun)

    def means(self, values_BC: NDArray[np.float64]) -> NDArray[np.float64]:
        """Mean over the rows of each unit, U x C, to 12 digits; the values if units are rows."""
        if self.number == len(self.labels):
            return values_BC
        means_UC = np.stack(
            [values_BC[rows].mean(axis=0) for rows in members(self.labels).values()]
        )
        largest = float(np.abs(means_UC).max())
        digits = _DIGITS - 1 - (int(np.floor(np.log10(largest))) if largest > 0 else 0)
        return means_UC.round(digits)

    def interval(self, values_B: NDArray[np.float64]) -> Interval:
        """Mean over blocks; its t interval is over the units, and unknown without a test."""
        found = grouped_interval(values_B.tolist(), self.labels)
        if self.why_untested:
            return replace(found, low=None, high=None, standard_error=None)
        return found


def members(labels: Sequence[str]) -> dict[str, NDArray[np.intp]]:
    """Label -> the numbers of its rows, in the order of first appearance."""
    found: dict[str, list[int]] = {}
    for number, label in enumerate(labels):
        found.setdefault(label, []).append(number)
    return {label: np.array(numbers) for label, numbers in found.items()}


def block_units(
    blocks: Sequence[Mapping[str, object]], labels: Sequence[str], fewest: int
) -> Units:
    """Data sets if there are enough, else backbones if there are, else none for any test.

    Without columns of either, each block is a unit.

    Args:
        blocks: key of each block: column -> value; at least one block, all with the same columns.
        labels: key of each block as text.
        fewest: fewest units with which a difference can be significant.
    """
    columns = {
        name: [str(block[name]) for block in blocks] for name in _NOUNS if name in blocks[0]
    }
    counts = {name: len(set(values)) for name, values in columns.items()}
    column = next((name for name, count in counts.items() if count >= fewest), None)
    if column is not None:
        return Units(
            noun=_NOUNS[column],
            labels=tuple(columns[column]),
            question=f"Would the order hold on other {_NOUNS[column]}s{_beside(column, counts)}?",
            why_untested="",
        )
    counts = counts or {_BLOCK: len(labels)}
    nouns = [_NOUNS.get(name, name) for name in counts]
    elsewhere = " or ".join(f"{noun}s" for noun in nouns)
    takes = " or ".join(f"{fewest} {noun}s" for noun in nouns)
    there = f"these are {listed([str(count) for count in counts.values()])}"
    is_enough = not columns and len(labels) >= fewest
    return Units(
        noun=_BLOCK,
        labels=tuple(labels),
        question=f"Would the order hold on other {elsewhere}?",
        why_untested=""
        if is_enough
        else f"Whether that holds on other {elsewhere} is not tested: it takes {takes};"
        f" {'this is 1' if set(counts.values()) == {1} and len(counts) == 1 else there}.",
    )


def _beside(column: str, counts: Mapping[str, int]) -> str:
    """What else is there and stays as it is: ``, with these backbones``."""
    others = [name for name in counts if name != column]
    if not others:
        return ""
    (other,) = others
    these = f"these {_NOUNS[other]}s" if counts[other] > 1 else f"this {_NOUNS[other]}"
    return f", {'with' if other == 'backbone' else 'for'} {these}"


def run_units(runs_of_blocks: Sequence[int], fewest: int, noun: str) -> Units:
    """Runs as units: for the order on exactly these blocks, with other runs.

    Blocks are fixed. Within a block and seed competitors differ by what is true there and by
    chance; equal competitors may change names, so gaps of runs may change signs. What a loss gains
    in one block and loses in another makes gaps scatter more than runs do, and the test more
    careful.

    Args:
        runs_of_blocks: count of runs (repeats, seeds or folds) of each block that all share.
        fewest: fewest units with which a difference can be significant.
        noun: what a run is: ``seed``, ``fold`` or ``repeat``.
    """
    number, few = sum(runs_of_blocks), min(runs_of_blocks) < 2
    of_each = ", at least 2 of each setting" if len(runs_of_blocks) > 1 else ""
    return Units(
        noun=noun,
        labels=tuple(map(str, range(number))),
        question=f"Would the order hold in these settings, with other {noun}s?",
        why_untested=f"Whether that holds with other {noun}s is not tested: it takes"
        f" {max(2, fewest)} {noun}s{of_each}; all competitors share {number}."
        if few or number < fewest
        else "",
    )


def shared_runs(runs: Sequence[NDArray[np.float64]]) -> tuple[NDArray[np.float64], ...]:
    """The runs that every competitor has, of each block.

    Args:
        runs: scores of each block, runs x competitors; NaN where a competitor lacks the run.
    """
    return tuple(scores_UC[np.isfinite(scores_UC).all(axis=1)] for scores_UC in runs)


def left_out_labels(
    blocks: Sequence[Mapping[str, object]], labels: Sequence[str]
) -> tuple[str, ...]:
    """By which label blocks are left out in turn: data set, else backbone, else block."""
    for name in _NOUNS:
        if len({block.get(name) for block in blocks}) > 1:
            return tuple(str(block[name]) for block in blocks)
    return tuple(labels)
