"""Ranks within blocks, and what a competitor's ranks add up to. B = blocks, C = competitors."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_PODIUM = 3
_DIGITS = 12  # of sums of weighted ranks, so that equal sums tie whatever their rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One competitor over all blocks used. Rank 1 is best.

    ``rank_std`` is the sample standard deviation, None with one block. ``wins`` counts the blocks
    with a sole first, ``top_three`` those with a rank of at most 3. Competitors with equal totals
    share a ``place``.
    """

    competitor: str
    total_rank: float
    average_rank: float
    rank_std: float | None
    wins: int
    blocks: int
    place: int
    min_rank: float
    max_rank: float
    top_three: int
    mean_score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AvailableRank:
    """A competitor over the blocks that hold its score and another's.

    Attributes:
        competitor: name of the competitor.
        rank_sum: sum of weighted ranks around the middle rank, the lowest is first; a missing
            score counts 0, as the middle does. None if there is no such block.
        beaten_by: mean share of the others present that are better, 0 (first) to 1 (last), ties
            half; None like ``rank_sum``. It does not depend on how many are present, but on
            who.
        num_blocks: number of blocks that hold its score and another's.
    """

    competitor: str
    rank_sum: float | None
    beaten_by: float | None
    num_blocks: int


def average_ranks(scores_BC: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks within each row, the highest score first; equal scores share their average rank.

    Args:
        scores_BC: finite scores, compared exactly.

    Returns:
        Ranks of the same shape, 1 to C; each row sums to C (C + 1) / 2.

    Raises:
        ValueError: a score is NaN or infinite. A missing score has no rank, not even the last.
    """
    if not np.isfinite(scores_BC).all():
        raise ValueError("ranks need finite scores; drop blocks with a missing score first")
    ranks_BC = np.full(scores_BC.shape, 0.5)
    for rival in range(scores_BC.shape[1]):
        rival_B1 = scores_BC[:, rival : rival + 1]
        ranks_BC += (rival_B1 > scores_BC) + 0.5 * (rival_B1 == scores_BC)
    return ranks_BC


def standings(names: Sequence[str], scores_BC: NDArray[np.float64]) -> tuple[Standing, ...]:
    """The table of a rank tournament, best (lowest) total first, equal totals by name.

    Args:
        names: names of the C competitors, in the order of the columns.
        scores_BC: finite scores, higher is better; at least one block.
    """
    ranks_BC = average_ranks(scores_BC)
    num_blocks = len(ranks_BC)
    totals_C = ranks_BC.sum(axis=0)
    stds_C = ranks_BC.std(axis=0, ddof=1) if num_blocks > 1 else None
    # A tied first has rank 1.5 or more, so rank 1 is a sole first.
    wins_C = (ranks_BC == 1).sum(axis=0)
    top_three_C = (ranks_BC <= _PODIUM).sum(axis=0)
    order = sorted(range(len(names)), key=lambda c: (totals_C[c], names[c]))
    return tuple(
        Standing(
            place=1 + int((totals_C < totals_C[c]).sum()),
            competitor=names[c],
            total_rank=float(totals_C[c]),
            average_rank=float(totals_C[c] / num_blocks),
            rank_std=None if stds_C is None else float(stds_C[c]),
            min_rank=float(ranks_BC[:, c].min()),
            max_rank=float(ranks_BC[:, c].max()),
            wins=int(wins_C[c]),
            top_three=int(top_three_C[c]),
            mean_score=float(scores_BC[:, c].mean()),
            blocks=num_blocks,
        )
        for c in order
    )


def available_ranks(
    names: Sequence[str], scores_BC: NDArray[np.float64]
) -> tuple[AvailableRank, ...]:
    """Every competitor over the blocks that have it, best first, equal sums by name.

    Ranks are among those present, around the middle one, and weighted so that blocks with many and
    few present count alike (Skillings and Mack 1981). Descriptive: a loss that was left out where
    it is bad is flattered.

    Args:
        names: names of the C competitors.
        scores_BC: higher is better; NaN where a competitor has no score.
    """
    present_BC = np.isfinite(scores_BC)
    present_BC &= present_BC.sum(axis=1, keepdims=True) > 1
    size_B1 = present_BC.sum(axis=1, keepdims=True)
    # Missing scores go to the end, where they change no other's rank.
    lowest = np.nanmin(scores_BC, initial=0.0) - 1
    ranks_BC = average_ranks(np.where(np.isfinite(scores_BC), scores_BC, lowest))
    beaten_BC = (ranks_BC - 1) / np.maximum(size_B1 - 1, 1)
    weighted_BC = np.sqrt(12 / (size_B1 + 1)) * (ranks_BC - (size_B1 + 1) / 2)
    found = [
        AvailableRank(
            competitor=name,
            rank_sum=float(weighted_BC[has_B, c].sum().round(_DIGITS)) if has_B.any() else None,
            beaten_by=float(beaten_BC[has_B, c].mean()) if has_B.any() else None,
            num_blocks=int(has_B.sum()),
        )
        for c, (name, has_B) in enumerate(zip(names, present_BC.T, strict=True))
    ]
    return tuple(
        sorted(found, key=lambda f: (f.rank_sum is None, f.rank_sum or 0.0, f.competitor))
    )
