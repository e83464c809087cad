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

__all__ = ["ENOUGH_RUNS", "MEANINGFUL", "Superiority", "superiorities"]

MEANINGFUL = 0.75
"""From which probability on Bouthillier et al. 2021 call a difference meaningful."""

ENOUGH_RUNS = 29
"""Pairs of runs with which a test has 95 % power against it (Noether 1987)."""

_REPLICATES = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Superiority:
    """How often a run of ``a`` beats one of ``b``; a tie counts half to both.

    Attributes:
        estimate: mean over blocks, 0 to 1.
        low: of the interval; None with one block, which has nobody to be compared with.
        high: likewise.
        num_blocks: over which it is the mean.
        num_runs: the fewest comparisons of runs in a block.
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
class _Contest:
    """One pair in one block: what each compared pair of runs gives to the first."""

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
    *,
    replicates: int = _REPLICATES,
    confidence: float = 0.95,
    seed: int = 0,
) -> tuple[Superiority, ...]:
    """P(a > b) of every pair, in the order of the names.

    Within a block, runs that share their seed are compared with each other, since they share its
    luck; without a common seed every run of a meets every run of b. The standard error comes from
    drawing blocks, and within each drawn block its runs, with replacement; with one run a cell
    only blocks are drawn. The interval is Wilson's for so many tries as would have that standard
    error, and for as many as there are blocks where all say the same: percentiles of the resamples
    know no doubt there, and hold too rarely near 0 and 1. Assumes independent blocks. Sources:
    Bouthillier et al. 2021, section 5; interval as Dean and Pagano 2015.

    Args:
        names: the C competitors.
        runs: of every block.
        replicates: N.
        confidence: of the interval.
        seed: equal seeds give equal numbers.
    """
    num_blocks = len(runs)
    generator = np.random.default_rng(seed)
    shares = [1 / num_blocks] * num_blocks
    counts_NB = generator.multinomial(num_blocks, shares, size=replicates)
    pairs = list(combinations(range(len(names)), 2))
    contests = [[_contest(scores_UC, a, b) for a, b in pairs] for scores_UC in runs]
    totals_NP = np.zeros((replicates, len(pairs)))
    for block, counts_N in zip(contests, counts_NB.T, strict=True):
        resample_D = np.repeat(np.arange(replicates), counts_N)
        np.add.at(totals_NP, resample_D, _drawn(block, len(resample_D), generator))
    return tuple(
        _superiority(
            names[a],
            names[b],
            [block[number] for block in contests],
            totals_NP[:, number] / num_blocks,
            confidence,
        )
        for number, (a, b) in enumerate(pairs)
    )


def _contest(scores_UC: NDArray[np.float64], a: int, b: int) -> _Contest:
    has_a, has_b = np.isfinite(scores_UC[:, a]), np.isfinite(scores_UC[:, b])
    is_paired = bool((has_a & has_b).any())
    if is_paired:
        has_a = has_b = has_a & has_b
    a_U1, b_U = scores_UC[has_a, a][:, None], scores_UC[has_b, b]
    return _Contest(wins_UU=(a_U1 > b_U) + 0.5 * (a_U1 == b_U), is_paired=is_paired)


def _drawn(
    block: Sequence[_Contest], num_copies: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """What each of D copies of the block says when its runs are drawn anew, D x P."""
    sizes = {contest.wins_UU.shape for contest in block}
    if len(sizes) == 1 and all(contest.is_paired for contest in block):
        wins_UP = np.stack([contest.wins_UU.diagonal() for contest in block], axis=1)
        return _shares(len(wins_UP), num_copies, generator) @ wins_UP
    columns = []
    for contest in block:
        num_a, num_b = contest.wins_UU.shape
        drawn_DU = _shares(num_a, num_copies, generator)
        if contest.is_paired:
            columns.append(drawn_DU @ contest.wins_UU.diagonal())
        else:
            others_DU = _shares(num_b, num_copies, generator)
            columns.append(((drawn_DU @ contest.wins_UU) * others_DU).sum(axis=1))
    return np.stack(columns, axis=1)


def _shares(num_runs: int, num_copies: int, generator: np.random.Generator) -> NDArray[np.float64]:
    """Weight of each run in each copy; they sum to 1."""
    counts = generator.multinomial(num_runs, [1 / num_runs] * num_runs, size=num_copies)
    shares: NDArray[np.float64] = counts / num_runs
    return shares


def _superiority(
    a: str,
    b: str,
    contests: Sequence[_Contest],
    resampled_N: NDArray[np.float64],
    confidence: float,
) -> Superiority:
    num_blocks = len(contests)
    estimate = float(np.mean([contest.estimate for contest in contests]))
    low = high = None
    if num_blocks > 1:
        tries = _tries(estimate, resampled_N, contests)
        wilson = wilson_interval(estimate * tries, tries, confidence=confidence)
        low, high = wilson.low, wilson.high
    return Superiority(
        a=a,
        b=b,
        estimate=estimate,
        low=low,
        high=high,
        num_blocks=num_blocks,
        num_runs=min(contest.num_runs for contest in contests),
        is_paired=all(contest.is_paired for contest in contests),
    )


def _tries(
    estimate: float, resampled_N: NDArray[np.float64], contests: Sequence[_Contest]
) -> float:
    """Independent tries whose share would scatter as the resamples do; at most all comparisons."""
    num_blocks = len(contests)
    # B blocks drawn out of B scatter by (B - 1) / B too little.
    variance = float(resampled_N.var()) * num_blocks / (num_blocks - 1)
    if variance < 1e-18:
        return float(num_blocks)
    most = sum(contest.num_runs for contest in contests)
    return min(max(estimate * (1 - estimate) / variance, 1.0), float(most))
