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
class _Candidates:
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
    candidate_sets = [[_candidates(scores_UC, a, b) for a, b in pairs] for scores_UC in runs]
    totals_NP = np.zeros((replicates, len(pairs)))
    for block, counts_N in zip(candidate_sets, counts_NB.T, strict=True):
        resample_D = np.repeat(np.arange(replicates), counts_N)
        np.add.at(totals_NP, resample_D, _drawn(block, len(resample_D), generator))
    return tuple(
        _superiority(
            names[a],
            names[b],
            [block[number] for block in candidate_sets],
            totals_NP[:, number] / num_blocks,
            confidence,
        )
        for number, (a, b) in enumerate(pairs)
    )


def _candidates(scores_UC: NDArray[np.float64], a: int, b: int) -> _Candidates:
    has_a, has_b = np.isfinite(scores_UC[:, a]), np.isfinite(scores_UC[:, b])
    is_paired = bool((has_a & has_b).any())
    if is_paired:
        has_a = has_b = has_a & has_b
    a_U1, b_U = scores_UC[has_a, a][:, None], scores_UC[has_b, b]
    return _Candidates(wins_UU=(a_U1 > b_U) + 0.5 * (a_U1 == b_U), is_paired=is_paired)


def _drawn(
    block: Sequence[_Candidates], num_copies: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """What each of D copies of the block says when its runs are drawn anew, D x P."""
    sizes = {candidates.wins_UU.shape for candidates in block}
    if len(sizes) == 1 and all(candidates.is_paired for candidates in block):
        wins_UP = np.stack([candidates.wins_UU.diagonal() for candidates in block], axis=1)
        return _shares(len(wins_UP), num_copies, generator) @ wins_UP
    columns = []
    for candidates in block:
        num_a, num_b = candidates.wins_UU.shape
        drawn_DU = _shares(num_a, num_copies, generator)
        if candidates.is_paired:
            columns.append(drawn_DU @ candidates.wins_UU.diagonal())
        else:
            others_DU = _shares(num_b, num_copies, generator)
            columns.append(((drawn_DU @ candidates.wins_UU) * others_DU).sum(axis=1))
    return np.stack(columns, axis=1)


def _shares(num_runs: int, num_copies: int, generator: np.random.Generator) -> NDArray[np.float64]:
    """Weight of each run in each copy; they sum to 1."""
    counts = generator.multinomial(num_runs, [1 / num_runs] * num_runs, size=num_copies)
    shares: NDArray[np.float64] = counts / num_runs
    return shares


def _superiority(
    a: str,
    b: str,
    candidate_sets: Sequence[_Candidates],
    resampled_N: NDArray[np.float64],
    confidence: float,
) -> Superiority:
    num_blocks = len(candidate_sets)
    estimate = float(np.mean([candidates.estimate for candidates in candidate_sets]))
    low = high = None
    if num_blocks > 1:
        tries = _tries(estimate, resampled_N, candidate_sets)
        wilson = wilson_interval(estimate * tries, tries, confidence=confidence)
        low, high = wilson.low, wilson.high
    return Superiority(
        a=a,
        b=b,
        estimate=estimate,
        low=low,
        high=high,
        num_blocks=num_blocks,
        num_runs=min(candidates.num_runs for candidates in candidate_sets),
        is_paired=all(candidates.is_paired for candidates in candidate_sets),
    )


def _tries(
    estimate: float, resampled_N: NDArray[np.float64], candidate_sets: Sequence[_Candidates]
) -> float:
    """Independent tries whose share would scatter as the resamples do; at most all comparisons."""
    num_blocks = len(candidate_sets)
    # B blocks drawn out of B scatter by (B - 1) / B too little.
    variance = float(resampled_N.var()) * num_blocks / (num_blocks - 1)
    if variance < 1e-18:
        return float(num_blocks)
    most = sum(candidates.num_runs for candidates in candidate_sets)
    return min(max(estimate * (1 - estimate) / variance, 1.0), float(most))
