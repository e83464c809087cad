"""How sure the order of a tournament is: groups of blocks, blocks and runs drawn anew.

R = replicates, B = blocks, C = competitors, D = draws of one block.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from podium.analysis.estimates.confidence_intervals import CONFIDENCE, percentile_ends
from podium.analysis.estimates.grouped_share import grouped_share_intervals
from podium.analysis.tournament.block_groups import BlockGroups
from podium.analysis.tournament.block_runs import BlockRuns, drawn_ranks

FEWEST_RUNS = 3
"""Fewer runs of one block show too little of their scatter for an interval."""

_PODIUM = 3
_CHUNK = 2**22  # numbers held at once


@dataclass(frozen=True, slots=True, kw_only=True)
class RankUncertainty:
    """One competitor: 95 % interval of its average rank, and places over all resamples.

    ``low`` and ``high`` are None where groups (or the runs of a single group) are too few.

    Resamples in which several share a place count in equal parts, so that ``p_first`` sums to 1
    over competitors and ``p_top_three`` to 3 (to C with fewer than three).
    """

    competitor: str
    average_rank: float
    low: float | None
    high: float | None
    p_first: float
    p_top_three: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RankBootstrap:
    """Uncertainty of all competitors, in the order given.

    ``is_sensitivity`` marks fewer than 5 groups (3 runs of a single group): then the numbers show
    how much the order depends on single ones, and are no confidence statement.
    ``place_probability_CC[c, m]`` is the probability that competitor c takes place m + 1,
    ``ahead_CC[a, b]`` that a is placed before b; ties count half. ``draws_runs`` tells whether
    runs were drawn within blocks.
    """

    competitors: tuple[RankUncertainty, ...]
    place_probability_CC: NDArray[np.float64]
    ahead_CC: NDArray[np.float64]
    draws_runs: bool
    num_groups: int
    num_blocks: int
    replicates: int
    confidence: float
    is_sensitivity: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveOneOut:
    """All places, as (place, competitor), when a group of blocks is left out; best first."""

    left_out: str
    places: tuple[tuple[int, str], ...]

    @property
    def podium(self) -> tuple[tuple[int, str], ...]:
        """The first three places."""
        return tuple((place, name) for place, name in self.places if place <= _PODIUM)


def bootstrap_ranks(
    names: Sequence[str],
    ranks_BC: NDArray[np.float64],
    groups: BlockGroups,
    *,
    runs: Sequence[BlockRuns] | None = None,
    replicates: int = 10_000,
    seed: int = 0,
) -> RankBootstrap:
    """Resample groups with replacement, then the blocks of each drawn group, then their runs.

    Blocks with the same data set and backbone resemble each other; resampling them as if they were
    independent says too much. Source: Davison and Hinkley 1997, section 3.8. Intervals of average
    ranks are those of means of shares from groups (`grouped_share`): percentiles of the resamples
    hold 80 % for 95 with six groups, and have no width for who is first everywhere.

    Blocks already differ by the chance in their runs, so drawing runs as well counts it twice:
    probabilities are nearer to one half than a mean would need, which makes up for some of what is
    missing with few groups. A single group has nothing but its runs; then they alone are drawn,
    the blocks stay, and intervals are percentiles of at least 3 runs.

    Args:
        names: names of the C competitors, in the order of the columns.
        ranks_BC: average ranks within blocks, 1 is best.
        groups: groups of the blocks.
        runs: runs of each block, drawn anew whenever the block is; None keeps cells as they are.
        replicates: number of resamples R.
        seed: equal seeds give equal numbers.
    """
    num_blocks, num_competitors = ranks_BC.shape
    generator = np.random.default_rng(seed)
    averages = []
    at_most_CC = np.zeros((num_competitors, num_competitors))
    ahead_CC = np.zeros((num_competitors, num_competitors))
    is_fixed = len(groups.members) == 1
    for counts_RB in _resamples(
        groups.members, num_blocks * num_competitors, replicates, generator
    ):
        totals_RC = _totals(counts_RB, ranks_BC, runs, generator, is_outermost=is_fixed)
        averages.append(totals_RC / counts_RB.sum(axis=1, keepdims=True))
        at_most, ahead = _compared(totals_RC)
        at_most_CC += at_most
        ahead_CC += ahead
    at_most_CC /= replicates
    means_C = ranks_BC.mean(axis=0)
    ends = (
        _of_runs(means_C, np.concatenate(averages), runs)
        if is_fixed
        else _over_groups(ranks_BC, groups)
    )
    top = min(_PODIUM, num_competitors) - 1
    return RankBootstrap(
        competitors=tuple(
            RankUncertainty(
                competitor=name,
                average_rank=float(means_C[c]),
                low=None if ends is None else float(ends[0][c]),
                high=None if ends is None else float(ends[1][c]),
                p_first=float(at_most_CC[c, 0]),
                p_top_three=float(at_most_CC[c, top]),
            )
            for c, name in enumerate(names)
        ),
        place_probability_CC=np.diff(at_most_CC, axis=1, prepend=0),
        ahead_CC=ahead_CC / replicates,
        draws_runs=runs is not None,
        num_groups=len(groups.members),
        num_blocks=num_blocks,
        replicates=replicates,
        confidence=CONFIDENCE,
        is_sensitivity=ends is None,
    )


_Ends = tuple[NDArray[np.float64], NDArray[np.float64]]


def _over_groups(ranks_BC: NDArray[np.float64], groups: BlockGroups) -> _Ends | None:
    """Interval of each average rank over other groups: ranks as shares of the worst rank."""
    reach = ranks_BC.shape[1] - 1
    found = grouped_share_intervals((ranks_BC - 1) / reach, groups.members)
    if found is None:
        return None
    low_C, high_C = found
    means_C = ranks_BC.mean(axis=0)  # an end that is the mean stays so, whatever its rounding
    return np.minimum(1 + reach * low_C, means_C), np.maximum(1 + reach * high_C, means_C)


def _of_runs(
    means_C: NDArray[np.float64],
    averages_RC: NDArray[np.float64],
    runs: Sequence[BlockRuns] | None,
) -> _Ends | None:
    """Percentiles over other runs of the same blocks; they hold the average rank itself."""
    if runs is None or min(block.num_runs for block in runs) < FEWEST_RUNS:
        return None
    low_C, high_C = percentile_ends(averages_RC)
    return np.minimum(low_C, means_C), np.maximum(high_C, means_C)


def leave_one_out_podiums(
    names: Sequence[str], ranks_BC: NDArray[np.float64], groups: BlockGroups
) -> tuple[LeaveOneOut, ...]:
    """The places without each group of blocks in turn.

    Args:
        names: names of the C competitors, in the order of the columns.
        ranks_BC: average ranks within blocks, 1 is best.
        groups: groups of the blocks.

    Returns:
        In order of first appearance; empty with a single group.
    """
    if len(groups.members) < 2:
        return ()
    found = []
    all_C = ranks_BC.sum(axis=0)
    for label, blocks in zip(groups.names, groups.members, strict=True):
        totals_C = all_C - ranks_BC[blocks].sum(axis=0)
        places = (1 + np.searchsorted(np.sort(totals_C), totals_C)).tolist()
        found.append(
            LeaveOneOut(left_out=label, places=tuple(sorted(zip(places, names, strict=True))))
        )
    return tuple(found)


def _resamples(
    members: Sequence[NDArray[np.intp]],
    numbers_each: int,
    replicates: int,
    generator: np.random.Generator,
) -> Iterator[NDArray[np.intp]]:
    """How often each block is drawn in each replicate, in chunks of replicates.

    The blocks of a single group are drawn once each.

    Args:
        members: block numbers of each group.
        numbers_each: count of numbers that one replicate holds in memory.
        replicates: total over all chunks.
        generator: source of random numbers.
    """
    num_groups = len(members)
    num_blocks = sum(len(blocks) for blocks in members)
    chunk = max(1, _CHUNK // numbers_each)
    for start in range(0, replicates, chunk):
        size = min(chunk, replicates - start)
        if num_groups == 1:
            yield np.ones((size, num_blocks), dtype=np.intp)
            continue
        drawn = generator.multinomial(num_groups, [1 / num_groups] * num_groups, size=size)
        counts_RB = np.zeros((size, num_blocks), dtype=np.intp)
        end = 0
        # Groups of one size G in a row at once; the draws are those of one group after another.
        for num_inside, run in groupby(members, key=len):
            blocks_GK = np.stack(list(run))
            start_of_run, end = end, end + len(blocks_GK)
            # A group drawn m times gives m times its number of blocks, each drawn afresh.
            sizes_GR = drawn[:, start_of_run:end].T * num_inside
            counts_GRK = generator.multinomial(sizes_GR, [1 / num_inside] * num_inside)
            counts_RB[:, blocks_GK] = counts_GRK.swapaxes(0, 1)
        yield counts_RB


def _totals(
    counts_RB: NDArray[np.intp],
    ranks_BC: NDArray[np.float64],
    runs: Sequence[BlockRuns] | None,
    generator: np.random.Generator,
    *,
    is_outermost: bool,
) -> NDArray[np.float64]:
    """Total ranks of each replicate; each draw of a block draws its runs anew."""
    if runs is None:
        return counts_RB @ ranks_BC
    totals_RC = np.zeros((len(counts_RB), ranks_BC.shape[1]))
    for counts_R, ranks_C, block in zip(counts_RB.T, ranks_BC, runs, strict=True):
        if not block.varies:
            totals_RC += counts_R[:, np.newaxis] * ranks_C
            continue
        ranks_DC = drawn_ranks(block, int(counts_R.sum()), generator, is_outermost=is_outermost)
        # Draws of one replicate are adjacent; ``reduceat`` cannot add up none.
        is_drawn_R = counts_R > 0
        starts = np.cumsum(counts_R)[is_drawn_R] - counts_R[is_drawn_R]
        totals_RC[is_drawn_R] += np.add.reduceat(ranks_DC, starts, axis=0)
    return totals_RC


def _compared(totals_RC: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two counts of replicates; ties are broken at random, on average.

    Returns:
        ``at_most_CC[c, m]``: where competitor c takes place m + 1 or better; ``ahead_CC[a, b]``:
        where a comes before b, half of the ties among them.
    """
    num_competitors = totals_RC.shape[1]
    better_RC = np.zeros(totals_RC.shape)
    tied_RC = np.zeros(totals_RC.shape)  # with itself too
    ahead_CC = np.zeros((num_competitors, num_competitors))
    for rival in range(num_competitors):
        rival_R1 = totals_RC[:, rival : rival + 1]
        is_better, is_tied = rival_R1 < totals_RC, rival_R1 == totals_RC
        better_RC += is_better
        tied_RC += is_tied
        ahead_CC[rival] = is_better.sum(axis=0) + 0.5 * is_tied.sum(axis=0)
    at_most_CC = np.stack(
        [
            np.clip((place - better_RC) / tied_RC, 0, 1).sum(axis=0)
            for place in range(1, num_competitors + 1)
        ],
        axis=1,
    )
    return at_most_CC, ahead_CC
