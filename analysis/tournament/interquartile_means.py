"""Interquartile means: how far above its block's middle a competitor scores, extremes left out.

U = runs of a block, C = competitors, N = resamples.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.estimates.confidence_intervals import percentile_ends
from analysis.tournament.block_runs import RunScores

FEWEST_VALUES = 8
"""Fewer have no middle half worth the name."""

FEWEST_RUNS = 3
"""Of each block, for an interval."""

_TRIMMED = 0.25
_REPLICATES = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class InterquartileMean:
    """The interquartile mean of one competitor, in units of the score.

    Attributes:
        competitor: name of the competitor.
        estimate: interquartile mean; None with fewer than 8 values.
        low: lower end of the interval; None also where a block has fewer than three runs of the
            competitor, since with two the interval holds only 4 of 5 times.
        high: upper end of the interval; None like ``low``.
        num_values: number of runs in all blocks.
    """

    competitor: str
    estimate: float | None
    low: float | None
    high: float | None
    num_values: int


def interquartile_means(
    names: Sequence[str], runs: RunScores, *, replicates: int = _REPLICATES, seed: int = 0
) -> tuple[InterquartileMean, ...]:
    """Mean of the middle half of (score - median of the block) over all runs of all blocks.

    Scores of different blocks have no common level, so each is taken from the median over
    competitors of their means in the block. The percentile interval draws U - 1 runs within each
    block (stratified, as rliable), since U out of U would vary (U - 1) / U as much as runs do (Rao
    and Wu 1988); block medians are computed anew. It speaks of other runs on these blocks, not of
    other blocks. Source: Agarwal et al. 2021.

    Args:
        names: names of the C competitors.
        runs: scores of the runs of every block.
        replicates: number of resamples N.
        seed: equal seeds give equal numbers.
    """
    values = [np.concatenate(parts) for parts in zip(*map(_centred, runs), strict=True)]
    has_interval = [
        all(int(np.isfinite(scores_UC[:, c]).sum()) >= FEWEST_RUNS for scores_UC in runs)
        for c in range(len(names))
    ]
    resampled: list[NDArray[np.float64]] = []
    if any(has_interval):
        generator = np.random.default_rng(seed)
        blocks = [_drawn(scores_UC, replicates, generator) for scores_UC in runs]
        resampled = [np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True)]
    found = []
    for c, name in enumerate(names):
        is_known = len(values[c]) >= FEWEST_VALUES
        low = high = None
        if is_known and has_interval[c]:
            low, high = map(float, percentile_ends(_middle_means(resampled[c])))
        found.append(
            InterquartileMean(
                competitor=name,
                estimate=float(_middle_means(values[c][None])[0]) if is_known else None,
                low=low,
                high=high,
                num_values=len(values[c]),
            )
        )
    return tuple(found)


def _centred(scores_UC: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Each competitor's runs in the block minus the median of the block."""
    median = float(np.median(np.nanmean(scores_UC, axis=0)))
    return [column_U[np.isfinite(column_U)] - median for column_U in scores_UC.T]


def _drawn(
    scores_UC: NDArray[np.float64], replicates: int, generator: np.random.Generator
) -> list[NDArray[np.float64]]:
    """The same of drawn runs, N x (U - 1) for each competitor; all draw together if they can."""
    num_runs = len(scores_UC)
    shared_NU = generator.integers(num_runs, size=(replicates, max(1, num_runs - 1)))
    is_complete = bool(np.isfinite(scores_UC).all())
    columns = []
    for column_U in scores_UC.T:
        own_U = column_U[np.isfinite(column_U)]
        size = (replicates, max(1, len(own_U) - 1))
        drawn_NU = shared_NU if is_complete else generator.integers(len(own_U), size=size)
        columns.append(own_U[drawn_NU])
    means_NC = np.stack([drawn_NU.mean(axis=1) for drawn_NU in columns], axis=1)
    medians_N1 = np.median(means_NC, axis=1, keepdims=True)
    return [drawn_NU - medians_N1 for drawn_NU in columns]


def _middle_means(values_NV: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean of each row without its lowest and highest quarter, rounded down (scipy's rule)."""
    num_values = values_NV.shape[1]
    cut = int(_TRIMMED * num_values)
    means: NDArray[np.float64] = np.sort(values_NV, axis=1)[:, cut : num_values - cut].mean(axis=1)
    return means
