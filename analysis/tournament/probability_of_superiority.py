"""P(A > B): how often a run of one competitor beats a run of the other.

U = runs of a block, C = competitors, P = pairs of them, N = resamples, D = copies of a block that
they draw.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from analysis.estimates.wilson_interval import wilson_interval
from analysis.tournament.block_runs import RunScores

MEANINGFUL = 0.75
"""From which probability on Bouthillier et al. 2021 call a difference meaningful."""

ENOUGH_RUNS = 29
"""Pairs of runs with which a test has 95 % power against it (Noether 1987)."""

_REPLICATES = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Superiority:
    """How often a run of ``a`` beats one of ``b``; a tie counts half to both.

    Attributes:
        a: name of the first competitor.
        b: name of the second competitor.
        estimate: mean over blocks, 0 to 1.
        low: lower end of the interval; None with one block.
        high: upper end of the interval; None with one block.
        num_blocks: number of blocks averaged.
        num_runs: fewest comparisons of runs in a block.
        is_paired: whether runs are compared seed by seed, in all blocks.
    """

    a: str
    b: str
    estimate: float
    low: float | None
    high: float | None
    num_blocks: int
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
    names: Sequence[str], runs: RunScores, *, replicates: int = _REPLICATES, seed: int = 0
) -> tuple[Superiority, ...]:
    """P(a > b) of every pair, in the order of the names.

    Within a block, runs that share their seed are compared with each other, since they are
    correlated; without a common seed every run of a meets every run of b. The standard error comes
    from drawing blocks, and within each drawn block its runs, with replacement; with one run a
    cell only blocks are drawn. The interval is Wilson's for the effective sample size that gives
    that standard error, and for the number of blocks where all say the same: percentiles of the
    resamples have no width there, and hold too rarely near 0 and 1. Assumes independent blocks.
    Sources: Bouthillier et al. 2021, section 5; interval as Dean and Pagano 2015.

    Args:
        names: names of the C competitors.
        runs: scores of the runs of every block.
        replicates: number of resamples N.
        seed: equal seeds give equal numbers.
    """
    num_blocks = len(runs)
    generator = np.random.default_rng(seed)
    shares = [1 / num_blocks] * num_blocks
    counts_NB = generator.multinomial(num_blocks, shares, size=replicates)
    pairs = list(combinations(range(len(names)), 2))
    blocks = [[_comparisons(scores_UC, a, b) for a, b in pairs] for scores_UC in runs]
    totals_NP = np.zeros((replicates, len(pairs)))
    for block, counts_N in zip(blocks, counts_NB.T, strict=True):
        resample_D = np.repeat(np.arange(replicates), counts_N)
        np.add.at(totals_NP, resample_D, _drawn(block, len(resample_D), generator))
    return tuple(
        _superiority(
            names[a],
            names[b],
            [block[number] for block in blocks],
            totals_NP[:, number] / num_blocks,
        )
        for number, (a, b) in enumerate(pairs)
    )


def _comparisons(scores_UC: NDArray[np.float64], a: int, b: int) -> _RunComparisons:
    has_a, has_b = np.isfinite(scores_UC[:, a]), np.isfinite(scores_UC[:, b])
    is_paired = bool((has_a & has_b).any())
    if is_paired:
        has_a = has_b = has_a & has_b
    a_U1, b_U = scores_UC[has_a, a][:, None], scores_UC[has_b, b]
    return _RunComparisons(wins_UU=(a_U1 > b_U) + 0.5 * (a_U1 == b_U), is_paired=is_paired)


def _drawn(
    block: Sequence[_RunComparisons], num_copies: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Shares of wins in each of D copies of the block, its runs drawn anew: D x P."""
    sizes = {one.wins_UU.shape for one in block}
    if len(sizes) == 1 and all(one.is_paired for one in block):
        wins_UP = np.stack([one.wins_UU.diagonal() for one in block], axis=1)
        return _shares(len(wins_UP), num_copies, generator) @ wins_UP
    columns = []
    for one in block:
        num_a, num_b = one.wins_UU.shape
        drawn_DU = _shares(num_a, num_copies, generator)
        if one.is_paired:
            columns.append(drawn_DU @ one.wins_UU.diagonal())
        else:
            others_DU = _shares(num_b, num_copies, generator)
            columns.append(((drawn_DU @ one.wins_UU) * others_DU).sum(axis=1))
    return np.stack(columns, axis=1)


def _shares(num_runs: int, num_copies: int, generator: np.random.Generator) -> NDArray[np.float64]:
    """Weight of each run in each copy; they sum to 1."""
    counts = generator.multinomial(num_runs, [1 / num_runs] * num_runs, size=num_copies)
    shares: NDArray[np.float64] = counts / num_runs
    return shares


def _superiority(
    a: str, b: str, blocks: Sequence[_RunComparisons], resampled_N: NDArray[np.float64]
) -> Superiority:
    num_blocks = len(blocks)
    estimate = float(np.mean([one.estimate for one in blocks]))
    low = high = None
    if num_blocks > 1:
        size = _effective_sample_size(estimate, resampled_N, blocks)
        wilson = wilson_interval(estimate * size, size)
        low, high = wilson.low, wilson.high
    return Superiority(
        a=a,
        b=b,
        estimate=estimate,
        low=low,
        high=high,
        num_blocks=num_blocks,
        num_runs=min(one.num_runs for one in blocks),
        is_paired=all(one.is_paired for one in blocks),
    )


def _effective_sample_size(
    estimate: float, resampled_N: NDArray[np.float64], blocks: Sequence[_RunComparisons]
) -> float:
    """Number of independent comparisons whose share would vary as the resamples do.

    At most the number of comparisons; the number of blocks where the resamples do not vary.
    """
    num_blocks = len(blocks)
    # B blocks drawn out of B scatter by (B - 1) / B too little.
    variance = float(resampled_N.var()) * num_blocks / (num_blocks - 1)
    if variance < 1e-18:
        return float(num_blocks)
    most = sum(one.num_runs for one in blocks)
    return min(max(estimate * (1 - estimate) / variance, 1.0), float(most))
