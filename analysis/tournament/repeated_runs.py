"""Runs as the independent units: for the order on exactly these blocks, were the runs repeated."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podium.analysis.tournament.block_groups import BlockGroups
from podium.analysis.wording import counted

_FEWEST = 2  # runs of a block, below which nothing is known of their scatter


@dataclass(frozen=True, kw_only=True)
class RepeatedRuns:
    """The runs (repeats, seeds or folds) of each block that all competitors share.

    Blocks are fixed. Within a block and seed competitors differ by what is true there and by
    chance; equal competitors may change names, so gaps of runs may change signs, which is what
    the tests on runs assume. What a loss gains in one block and loses in another makes gaps
    scatter more than runs do, and the tests more careful.

    Attributes:
        runs_of_blocks: count of runs of each block.
    """

    runs_of_blocks: tuple[int, ...]

    @property
    def question(self) -> str:
        """Whether the order would hold with other runs."""
        return "Would the order hold on these blocks, were the runs repeated?"

    @property
    def number(self) -> int:
        """Count of shared runs, over all blocks."""
        return sum(self.runs_of_blocks)

    @property
    def noun(self) -> str:
        """``run``."""
        return "run"

    @property
    def one(self) -> str:
        """``run``."""
        return "run"

    @property
    def counted(self) -> str:
        """Such as ``36 runs of 12 blocks``."""
        return f"{counted(self.number, 'run')} of {counted(len(self.runs_of_blocks), 'block')}"

    def more(self, number: int) -> str:
        """Such as ``3 more runs``."""
        return f"{number} more {'run' if number == 1 else 'runs'}"

    @property
    def why_untestable(self) -> str:
        """Why single runs support no test."""
        if min(self.runs_of_blocks) >= _FEWEST:
            return ""
        return (
            f"On these blocks a test needs {_FEWEST} runs of each block that all competitors"
            f" share; one has {min(self.runs_of_blocks)}: nothing shows what a repetition would"
            " change."
        )


IndependentUnits = BlockGroups | RepeatedRuns
"""What the tests of a tournament count as independent, which follows from what they ask."""


def shared_runs(runs: Sequence[NDArray[np.float64]]) -> tuple[NDArray[np.float64], ...]:
    """The runs that every competitor has, of each block.

    Args:
        runs: scores of each block, runs x competitors; NaN where a competitor lacks the run.
    """
    return tuple(scores_UC[np.isfinite(scores_UC).all(axis=1)] for scores_UC in runs)
