"""P(A > B): how often a run of one competitor beats a run of the other.

U = runs of a block, B = blocks, C = competitors, P = pairs of them, X = blocks or runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from analysis.estimates.grouped_share import grouped_share_intervals
from analysis.hypothesis_tests.pairwise_comparisons import differences
from analysis.tournament.block_runs import RunScores

MEANINGFUL = 0.75
"""From which probability on Bouthillier et al. 2021 call a difference meaningful."""

ENOUGH_RUNS = 29
"""Pairs of runs with which a test has 95 % power against it (Noether 1987)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Superiority:
    """How often a run of ``a`` beats one of ``b``; a tie counts half to both.

    Attributes:
        a: name of the first competitor.
        b: name of the second competitor.
        estimate: mean over blocks (over runs where they are what is independent), 0 to 1.
        low: lower end of the interval; None with fewer than 5 groups of blocks, or runs.
        high: upper end of the interval; None with fewer than 5 groups of blocks, or runs.
        num_runs: fewest comparisons of runs in a block.
        is_paired: whether runs are compared seed by seed, in all blocks.
    """

    a: str
    b: str
    estimate: float
    low: float | None
    high: float | None
    num_runs: int
    is_paired: bool

    @property
    def is_meaningful(self) -> bool:
        """Whether the interval lies above one half and the estimate from 0.75 on."""
        return self.low is not None and self.low > 0.5 and self.estimate >= MEANINGFUL


@dataclass(frozen=True, slots=True, kw_only=True)
class _RunComparisons:
    """Runs of one pair in one block: 1 where the run of the first is better, 0.5 for a tie."""

    wins_UU: NDArray[np.float64]
    is_paired: bool

    @property
    def estimate(self) -> float:
        wins = self.wins_UU.diagonal() if self.is_paired else self.wins_UU
        return float(wins.mean())

    @property
    def num_runs(self) -> int:
        return len(self.wins_UU) if self.is_paired else self.wins_UU.size


def superiorities(
    names: Sequence[str],
    runs: RunScores,
    groups: Sequence[NDArray[np.intp]],
    *,
    shared_runs: RunScores | None = None,
) -> tuple[Superiority, ...]:
    """P(a > b) of every pair, in the order of the names.

    Within a block, runs that share their seed are compared with each other, since they are
    correlated; without a common seed every run of a meets every run of b. The interval is that of
    a mean of shares from groups of blocks (`grouped_share_intervals`): what runs vary is part of
    how blocks differ. Source: Bouthillier et al. 2021, section 5.

    Args:
        names: names of the C competitors.
        runs: scores of the runs of every block.
        groups: numbers of the blocks of each group; groups are independent.
        shared_runs: scores of the runs that all competitors share, if the blocks are fixed and
            these runs are independent; None if groups are.
    """
    pairs = list(combinations(range(len(names)), 2))
    blocks = [[_comparisons(scores_UC, a, b) for a, b in pairs] for scores_UC in runs]
    if shared_runs is None:
        shares_XP, members = np.array([[one.estimate for one in row] for row in blocks]), groups
    else:
        shares_XP = _wins(np.concatenate(shared_runs))
        members = list(np.arange(len(shares_XP))[:, None])
    ends = grouped_share_intervals(shares_XP, members)
    return tuple(
        Superiority(
            a=names[a],
            b=names[b],
            estimate=float(shares_XP[:, number].mean()),
            low=None if ends is None else float(ends[0][number]),
            high=None if ends is None else float(ends[1][number]),
            num_runs=min(block[number].num_runs for block in blocks),
            is_paired=all(block[number].is_paired for block in blocks),
        )
        for number, (a, b) in enumerate(pairs)
    )


def _wins(scores_UC: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 where the first of a pair is better in a run, 0.5 for a tie; U x P."""
    gaps_UP = differences(scores_UC)
    wins_UP: NDArray[np.float64] = (gaps_UP > 0) + 0.5 * (gaps_UP == 0)
    return wins_UP


def _comparisons(scores_UC: NDArray[np.float64], a: int, b: int) -> _RunComparisons:
    has_a, has_b = np.isfinite(scores_UC[:, a]), np.isfinite(scores_UC[:, b])
    is_paired = bool((has_a & has_b).any())
    if is_paired:
        has_a = has_b = has_a & has_b
    a_U1, b_U = scores_UC[has_a, a][:, None], scores_UC[has_b, b]
    return _RunComparisons(wins_UU=(a_U1 > b_U) + 0.5 * (a_U1 == b_U), is_paired=is_paired)
