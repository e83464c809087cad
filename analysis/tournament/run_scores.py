"""Scores of single runs, block by block. U = runs of a block, C = competitors."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from analysis.tournament.block_runs import BlockRuns
from analysis.tournament.tournament import Tournament

__all__ = ["RunScores", "pooled_std", "run_scores"]

RunScores = Sequence[NDArray[np.float64]]
"""U x C of each block, in the order of a tournament; NaN where a competitor lacks the run."""


def run_scores(
    tournament: Tournament, runs: Sequence[BlockRuns] | None, *, scale: float = 1.0
) -> RunScores:
    """The score of each run in the tournament's unit; with one run a cell, that of the cell.

    Args:
        tournament: whose blocks and competitors they are of.
        runs: from `analysis.tournament.block_runs.block_runs` of the same table; None if no cell
            has two.
        scale: the tournament's unit in that of the runs, such as 100 for percent.
    """
    if runs is None:
        return tuple(row_C[None] for row_C in tournament.scores_BC)
    found = []
    for block in runs:
        with np.errstate(invalid="ignore"):
            scores_UC = np.where(block.weights_UC > 0, block.sums_UC / block.weights_UC, np.nan)
        found.append(scale * scores_UC)
    return tuple(found)


def pooled_std(runs: RunScores) -> float | None:
    """Standard deviation of a run around its cell's mean, over all cells with two runs or more.

    Variances are weighted by their degrees of freedom. None if no cell has two runs.
    """
    squares, freedom = 0.0, 0
    for scores_UC in runs:
        present_C = np.isfinite(scores_UC).sum(axis=0)
        repeated_UC = scores_UC[:, present_C > 1]
        if repeated_UC.size:
            squares += float(np.nansum((repeated_UC - np.nanmean(repeated_UC, axis=0)) ** 2))
            freedom += int((present_C[present_C > 1] - 1).sum())
    return math.sqrt(squares / freedom) if freedom else None
