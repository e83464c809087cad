"""Pairwise comparisons of competitors, by the primary test and others."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from podium.analysis.estimates.ranks import average_ranks
from podium.analysis.hypothesis_tests.nemenyi import nemenyi_p_value
from podium.analysis.hypothesis_tests.sign_flip_test import (
    sign_flip_p_values,
    smallest_sign_flip_p,
)
from podium.analysis.hypothesis_tests.wilcoxon import (
    SignedRank,
    signed_rank_tests,
    smallest_signed_rank_p,
)
from podium.orchestrator.results.records.tournament_rules import PrimaryTest

_MOST_BLOCKS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two competitors, block by block. Differences are a - b, in units of the score.

    ``p`` is that of the primary test, adjusted for the number of pairs: the verdict. It,
    ``wilcoxon``, ``p_holm`` (of Wilcoxon) and ``p_nemenyi`` are None where there are too few units
    for a test; ``p_nemenyi`` also with two competitors.
    """

    a: str
    b: str
    mean_difference: float
    rank_difference: float
    wins: int
    ties: int
    losses: int
    p: float | None
    wilcoxon: SignedRank | None
    p_holm: float | None
    p_nemenyi: float | None

    def differs(self, alpha: float) -> bool:
        """Whether the two are significantly different by the primary test; not if p is unknown."""
        return self.p is not None and self.p <= alpha


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallestP:
    """The least p any pair could reach with so many blocks, before and after adjustment.

    Nemenyi's p is adjusted as it is: both are equal.
    """

    raw: float
    adjusted: float


def compare_pairs(
    names: Sequence[str],
    scores_BC: NDArray[np.float64],
    unit_scores_UC: NDArray[np.float64] | None,
    *,
    nemenyi_scores_XC: NDArray[np.float64] | None = None,
    test: PrimaryTest = "wilcoxon_holm",
) -> tuple[Pair, ...]:
    """All C (C - 1) / 2 pairs, in the order of the columns.

    Args:
        names: names of the C competitors; if best first, ``a`` is the better placed of a pair.
        scores_BC: finite scores of blocks, higher is better.
        unit_scores_UC: scores of what is independent, such as means of groups of blocks, on which
            the tests are made; None makes no test.
        nemenyi_scores_XC: scores whose average ranks Nemenyi's test compares, taken for those of
            U independent blocks; None means those of blocks.
        test: primary test.
    """
    num_competitors = scores_BC.shape[1]
    average_C = average_ranks(scores_BC).mean(axis=0)
    nemenyi_C = (
        average_C if nemenyi_scores_XC is None else average_ranks(nemenyi_scores_XC).mean(axis=0)
    )
    indices = list(combinations(range(num_competitors), 2))
    tests: Sequence[SignedRank | None] = (
        [None] * len(indices) if unit_scores_UC is None else signed_rank_tests(unit_scores_UC)
    )
    adjusted = holm([tested.p_value for tested in tests if tested is not None])
    flipped = (
        holm(sign_flip_p_values(differences(unit_scores_UC)).tolist())
        if unit_scores_UC is not None and test == "permutation_holm"
        else []
    )
    pairs = []
    for number, ((a, b), tested) in enumerate(zip(indices, tests, strict=True)):
        gaps_B = scores_BC[:, a] - scores_BC[:, b]
        gap = float(average_C[a] - average_C[b])
        p_holm = None if unit_scores_UC is None else adjusted[number]
        p_nemenyi = (
            nemenyi_p_value(
                float(nemenyi_C[a] - nemenyi_C[b]), num_competitors, len(unit_scores_UC)
            )
            if unit_scores_UC is not None and num_competitors > 2
            else None
        )
        p_flipped = flipped[number] if flipped else None
        pairs.append(
            Pair(
                a=names[a],
                b=names[b],
                mean_difference=float(gaps_B.mean()),
                rank_difference=gap,
                wins=int((gaps_B > 0).sum()),
                ties=int((gaps_B == 0).sum()),
                losses=int((gaps_B < 0).sum()),
                p={"wilcoxon_holm": p_holm, "nemenyi": p_nemenyi, "permutation_holm": p_flipped}[
                    test
                ],
                wilcoxon=tested,
                p_holm=p_holm,
                p_nemenyi=p_nemenyi,
            )
        )
    return tuple(pairs)


def differences(scores_BC: NDArray[np.float64]) -> NDArray[np.float64]:
    """Differences a - b of all pairs, one column each, in the order of ``compare_pairs``."""
    first, second = np.triu_indices(scores_BC.shape[1], k=1)
    gaps_BP: NDArray[np.float64] = scores_BC[:, first] - scores_BC[:, second]
    return gaps_BP


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


def smallest_p(
    num_blocks: int, num_competitors: int, test: PrimaryTest = "wilcoxon_holm"
) -> SmallestP:
    """The least p of a pair: without ties, and with all differences of one sign.

    For Nemenyi it is that of one competitor always first and another always last.

    Args:
        num_blocks: number of blocks, at least 1.
        num_competitors: number of competitors, at least 2; for Nemenyi at least 3.
        test: primary test.
    """
    if test == "nemenyi":
        p = nemenyi_p_value(num_competitors - 1, num_competitors, num_blocks)
        return SmallestP(raw=p, adjusted=p)
    is_wilcoxon = test == "wilcoxon_holm"
    raw = smallest_signed_rank_p(num_blocks) if is_wilcoxon else smallest_sign_flip_p(num_blocks)
    num_pairs = num_competitors * (num_competitors - 1) // 2
    return SmallestP(raw=raw, adjusted=min(1.0, num_pairs * raw))


def blocks_needed(num_competitors: int, alpha: float, test: PrimaryTest) -> int | None:
    """Fewest blocks with which a pair can differ significantly; None if 10,000 are too few."""
    for num_blocks in range(2, _MOST_BLOCKS):
        if smallest_p(num_blocks, num_competitors, test).adjusted <= alpha:
            return num_blocks
    return None


def p_value_matrix(
    names: Sequence[str], pairs: Sequence[Pair], *, nemenyi: bool = False
) -> NDArray[np.float64]:
    """Symmetric adjusted p in the order of ``names``: of the primary test, or Nemenyi's.

    The diagonal is 1; an unknown p is NaN.
    """
    column = {name: number for number, name in enumerate(names)}
    p_CC = np.eye(len(names))
    for pair in pairs:
        p = pair.p_nemenyi if nemenyi else pair.p
        a, b = column[pair.a], column[pair.b]
        p_CC[a, b] = p_CC[b, a] = np.nan if p is None else p
    return p_CC
