"""Which pairs of competitors differ: Wilcoxon-Holm first, Nemenyi beside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from analysis.nemenyi import nemenyi_p_value
from analysis.ranks import average_ranks
from analysis.wilcoxon import SignedRank, signed_rank_test, smallest_p_value

__all__ = ["Pair", "SmallestP", "compare_pairs", "holm", "p_value_matrix", "smallest_p"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two competitors, block by block. Differences are a - b, in units of the score.

    ``wilcoxon``, ``p_holm`` and ``p_nemenyi`` are None with a single block, which supports no
    test; ``p_nemenyi`` also with two competitors.
    """

    a: str
    b: str
    mean_difference: float
    rank_difference: float
    wins: int
    ties: int
    losses: int
    wilcoxon: SignedRank | None
    p_holm: float | None
    p_nemenyi: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallestP:
    """The least p that any pair could reach with so many blocks, before and after Holm."""

    raw: float
    holm: float


def compare_pairs(names: Sequence[str], scores_BC: NDArray[np.float64]) -> tuple[Pair, ...]:
    """All C (C - 1) / 2 pairs, in the order of the columns.

    Args:
        names: the C competitors; list them best first, then ``a`` is the better placed of a pair.
        scores_BC: finite scores, higher is better.
    """
    num_blocks, num_competitors = scores_BC.shape
    average_C = average_ranks(scores_BC).mean(axis=0)
    indices = list(combinations(range(num_competitors), 2))
    is_testable = num_blocks > 1
    tests = [
        signed_rank_test(scores_BC[:, a], scores_BC[:, b]) if is_testable else None
        for a, b in indices
    ]
    adjusted = holm([test.p_value for test in tests if test is not None])
    pairs = []
    for number, ((a, b), test) in enumerate(zip(indices, tests, strict=True)):
        differences = scores_BC[:, a] - scores_BC[:, b]
        gap = float(average_C[a] - average_C[b])
        pairs.append(
            Pair(
                a=names[a],
                b=names[b],
                mean_difference=float(differences.mean()),
                rank_difference=gap,
                wins=int((differences > 0).sum()),
                ties=int((differences == 0).sum()),
                losses=int((differences < 0).sum()),
                wilcoxon=test,
                p_holm=adjusted[number] if is_testable else None,
                p_nemenyi=nemenyi_p_value(gap, num_competitors, num_blocks)
                if is_testable and num_competitors > 2
                else None,
            )
        )
    return tuple(pairs)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p in the given order: step-down, monotone, at most 1 (Holm 1979).

    Raises:
        ValueError: a p is NaN; a family with an unknown member has no adjustment.
    """
    if any(p != p for p in p_values):
        raise ValueError(f"Holm needs every p of the family; got {list(p_values)}")
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for position, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, (len(p_values) - position) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def smallest_p(num_blocks: int, num_competitors: int) -> SmallestP:
    """How small a Wilcoxon p can get at all, with no tie and every block pointing one way."""
    raw = smallest_p_value(num_blocks)
    num_pairs = num_competitors * (num_competitors - 1) // 2
    return SmallestP(raw=raw, holm=min(1.0, num_pairs * raw))


def p_value_matrix(
    names: Sequence[str], pairs: Sequence[Pair], *, nemenyi: bool = False
) -> NDArray[np.float64]:
    """Symmetric adjusted p in the order of ``names``: Wilcoxon-Holm, or Nemenyi.

    The diagonal is 1; an unknown p is NaN.
    """
    place = {name: number for number, name in enumerate(names)}
    p_CC = np.eye(len(names))
    for pair in pairs:
        p = pair.p_nemenyi if nemenyi else pair.p_holm
        a, b = place[pair.a], place[pair.b]
        p_CC[a, b] = p_CC[b, a] = np.nan if p is None else p
    return p_CC
