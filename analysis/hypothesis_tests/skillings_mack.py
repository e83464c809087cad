"""Friedman's question for tables with holes. B = blocks, C = competitors, N = permutations."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podium.analysis.estimates.distributions import chi_square_tail
from podium.analysis.estimates.ranks import average_ranks

_PERMUTATIONS = 9_999
_DIGITS = 12  # of sums of weighted ranks, so that equal sums tie whatever their rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillingsMack:
    """Outcome of the test of Skillings and Mack.

    ``p_value`` is by chi-square with C - 1 degrees of freedom, an approximation that is poor with
    few blocks and ties; prefer ``permutation_p_value``. ``num_blocks`` counts the blocks used,
    those with two scores or more.
    """

    statistic: float
    p_value: float
    degrees_of_freedom: int
    permutation_p_value: float
    num_blocks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AvailableRank:
    """A competitor over the blocks that hold its score and another's.

    Attributes:
        competitor: name of the competitor.
        rank_sum: sum of weighted ranks around the middle rank, the lowest is first; a missing
            score counts 0, as the middle does. None if there is no such block.
        average_rank: mean rank among those present; None like ``rank_sum``. Not
            comparable where blocks miss different competitors: fewer present make better ranks.
        beaten_by: mean share of the others present that are better, 0 (first) to 1 (last), ties
            half; None like ``rank_sum``. It does not depend on how many are present, but on
            who.
        num_blocks: number of blocks that hold its score and another's.
    """

    competitor: str
    rank_sum: float | None
    average_rank: float | None
    beaten_by: float | None
    num_blocks: int


def skillings_mack(scores_BC: NDArray[np.float64]) -> SkillingsMack | None:
    """Test whether competitors are alike when blocks miss some of them.

    Scores are ranked among those present; a missing one counts as the middle rank, with weights
    that make complete and incomplete blocks comparable. Without holes and ties the statistic is
    Friedman's. The permutation shuffles the ranks present within each block, which also allows for
    ties. Assumes independent blocks, and holes that have nothing to do with how good the missing
    score would have been: a loss that fails where it is bad is flattered. Source: Skillings and
    Mack 1981; permutation after Chatfield and Mander 2009.

    Args:
        scores_BC: higher is better; NaN where a competitor has no score.

    Returns:
        None if it is not defined: fewer than three competitors or two usable blocks, competitors
        that are not linked by common blocks, or nothing but ties.
    """
    used_BC = scores_BC[np.isfinite(scores_BC).sum(axis=1) > 1]
    num_blocks, num_competitors = used_BC.shape
    covariance_CC = _covariance(np.isfinite(used_BC))
    if num_blocks < 2 or num_competitors < 3:
        return None
    if np.linalg.matrix_rank(covariance_CC) < num_competitors - 1:
        return None
    weighted_BC = _weighted_ranks(used_BC)
    if not weighted_BC.any():
        return None
    inverse_CC = np.linalg.pinv(covariance_CC, hermitian=True).astype(np.float64)
    statistic = float(_quadratic(weighted_BC.sum(axis=0)[None], inverse_CC)[0])
    shuffled_NC = _shuffled_sums(weighted_BC, np.isfinite(used_BC))
    extreme = int((_quadratic(shuffled_NC, inverse_CC) >= statistic * (1 - 1e-9)).sum())
    return SkillingsMack(
        statistic=statistic,
        p_value=chi_square_tail(statistic, num_competitors - 1),
        degrees_of_freedom=num_competitors - 1,
        permutation_p_value=(1 + extreme) / (1 + _PERMUTATIONS),
        num_blocks=num_blocks,
    )


def available_ranks(
    names: Sequence[str], scores_BC: NDArray[np.float64]
) -> tuple[AvailableRank, ...]:
    """Every competitor over the blocks that have it, by the sums that the test compares.

    Equal sums are ordered by name.

    Args:
        names: names of the C competitors.
        scores_BC: higher is better; NaN where a competitor has no score.
    """
    present_BC = np.isfinite(scores_BC)
    present_BC &= present_BC.sum(axis=1, keepdims=True) > 1
    ranks_BC = np.where(present_BC, _ranks_among_present(scores_BC, present_BC), np.nan)
    others_B1 = present_BC.sum(axis=1, keepdims=True) - 1
    beaten_BC = (ranks_BC - 1) / np.maximum(others_B1, 1)
    sums_C = _weighted_ranks(np.where(present_BC, scores_BC, np.nan)).sum(axis=0).round(_DIGITS)
    found = []
    for c, name in enumerate(names):
        has_B = present_BC[:, c]
        found.append(
            AvailableRank(
                competitor=name,
                rank_sum=float(sums_C[c]) if has_B.any() else None,
                average_rank=float(ranks_BC[has_B, c].mean()) if has_B.any() else None,
                beaten_by=float(beaten_BC[has_B, c].mean()) if has_B.any() else None,
                num_blocks=int(has_B.sum()),
            )
        )
    return tuple(
        sorted(found, key=lambda f: (f.rank_sum is None, f.rank_sum or 0.0, f.competitor))
    )


def _covariance(present_BC: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Of the weighted rank sums: minus the number of common blocks off the diagonal."""
    common_CC = present_BC.T.astype(float) @ present_BC.astype(float)
    np.fill_diagonal(common_CC, 0.0)
    covariance_CC: NDArray[np.float64] = np.diag(common_CC.sum(axis=1)) - common_CC
    return covariance_CC


def _ranks_among_present(
    scores_BC: NDArray[np.float64], present_BC: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Average ranks within each block; those of missing scores mean nothing."""
    # Missing scores go to the end, where they change no other's rank.
    lowest = np.nanmin(scores_BC, initial=0.0) - 1
    return average_ranks(np.where(present_BC, scores_BC, lowest))


def _weighted_ranks(scores_BC: NDArray[np.float64]) -> NDArray[np.float64]:
    present_BC = np.isfinite(scores_BC)
    size_B1 = present_BC.sum(axis=1, keepdims=True)
    centred_BC = _ranks_among_present(scores_BC, present_BC) - (size_B1 + 1) / 2
    weighted: NDArray[np.float64] = np.where(
        present_BC, np.sqrt(12 / (size_B1 + 1)) * centred_BC, 0.0
    )
    return weighted


def _quadratic(
    sums_NC: NDArray[np.float64], inverse_CC: NDArray[np.float64]
) -> NDArray[np.float64]:
    values: NDArray[np.float64] = ((sums_NC @ inverse_CC) * sums_NC).sum(axis=1)
    return values


def _shuffled_sums(
    weighted_BC: NDArray[np.float64], present_BC: NDArray[np.bool_]
) -> NDArray[np.float64]:
    generator = np.random.default_rng(0)
    sums_NC = np.zeros((_PERMUTATIONS, weighted_BC.shape[1]))
    for weighted_C, present_C in zip(weighted_BC, present_BC, strict=True):
        rows = np.tile(weighted_C[present_C], (_PERMUTATIONS, 1))
        sums_NC[:, present_C] += generator.permuted(rows, axis=1)
    return sums_NC
