"""Scores of one loss in two studies, on blocks that were tested on the same images.

Suffix of arrays: B blocks that both studies tested alike.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from podium.analysis.estimates.confidence_intervals import Interval, grouped_interval
from podium.analysis.hypothesis_tests.pairwise_comparisons import holm
from podium.analysis.hypothesis_tests.wilcoxon import signed_rank_test
from podium.analysis.study_results.study_results import PERCENT, StudyResults


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedLoss:
    """A tuned loss in two studies; scores in percent.

    Attributes:
        loss: name of the loss.
        first: index of the first study.
        second: index of the second study.
        num_blocks: number of blocks that both studies tested alike.
        mean_first: mean score over these blocks in the first study.
        mean_second: mean score over these blocks in the second study.
        difference: first minus second, mean over blocks, with Student's t interval over groups of
            blocks of one data set and backbone.
        wins: number of blocks in which the first study scored higher.
        ties: number of blocks in which both scored the same.
        losses: number of blocks in which the first study scored lower.
        p_value: p-value of the two-sided exact Wilcoxon signed-rank test over the mean differences
            of these groups; None with one group.
        p_holm: the p-value adjusted by Holm over the losses of the two studies.
    """

    loss: str
    first: int
    second: int
    num_blocks: int
    mean_first: float
    mean_second: float
    difference: Interval
    wins: int
    ties: int
    losses: int
    p_value: float | None
    p_holm: float | None


def test_hashes(results: StudyResults) -> dict[str, tuple[str, ...]]:
    """Block -> hashes of the test classes and images that its finals were scored on, sorted."""
    tested = results.finals.drop_nulls("test_hash").group_by("block").agg(pl.col("test_hash"))
    return {
        block: tuple(sorted(set(hashes))) for block, hashes in tested.sort("block").iter_rows()
    }


def comparable_blocks(first: StudyResults, second: StudyResults) -> tuple[str, ...]:
    """Blocks of both with the same single test hash; none if the scores are not of one metric."""
    if (first.objective, first.k) != (second.objective, second.k):
        return ()
    hashes = (test_hashes(first), test_hashes(second))
    shared = sorted(set(hashes[0]) & set(hashes[1]))
    return tuple(
        block
        for block in shared
        if hashes[0][block] == hashes[1][block] and len(hashes[0][block]) == 1
    )


def paired_losses(studies: Sequence[StudyResults]) -> tuple[PairedLoss, ...]:
    """Every loss of every two studies that share comparable blocks, alphabetical within two.

    A block in which either score is missing is left out for that loss.
    """
    found: list[PairedLoss] = []
    for (i, first), (j, second) in combinations(enumerate(studies), 2):
        blocks = comparable_blocks(first, second)
        scores = (_scores(first), _scores(second))
        group_of = {block: groups for block, *groups in _groups(first).iter_rows()}
        pairs: list[_Pair] = []
        for loss in sorted(set(first.losses) & set(second.losses)):
            both = [b for b in blocks if all((b, loss) in values for values in scores)]
            if both:
                a_B, b_B = (np.array([values[b, loss] for b in both]) for values in scores)
                groups = [tuple(group_of[b]) for b in both]
                pairs.append(_Pair(loss=loss, a_B=a_B, b_B=b_B, groups=groups))
        found += _compared(i, j, pairs)
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """Scores of a loss in two studies, and the group of each block."""

    loss: str
    a_B: NDArray[np.float64]
    b_B: NDArray[np.float64]
    groups: Sequence[tuple[str, ...]]

    def p_value(self) -> float | None:
        """Of the mean differences of groups."""
        names = list(dict.fromkeys(self.groups))
        if len(names) < 2:
            return None
        of_block = np.array([names.index(group) for group in self.groups])
        sides = (
            np.array([side_B[of_block == g].mean() for g in range(len(names))])
            for side_B in (self.a_B, self.b_B)
        )
        return signed_rank_test(*sides).p_value


def _compared(i: int, j: int, pairs: Sequence[_Pair]) -> list[PairedLoss]:
    p_values = [pair.p_value() for pair in pairs]
    adjusted = iter(holm([p for p in p_values if p is not None]))
    return [
        PairedLoss(
            loss=pair.loss,
            first=i,
            second=j,
            num_blocks=len(pair.a_B),
            mean_first=float(pair.a_B.mean()),
            mean_second=float(pair.b_B.mean()),
            difference=grouped_interval((pair.a_B - pair.b_B).tolist(), pair.groups),
            wins=int((pair.a_B > pair.b_B).sum()),
            ties=int((pair.a_B == pair.b_B).sum()),
            losses=int((pair.a_B < pair.b_B).sum()),
            p_value=p,
            p_holm=None if p is None else next(adjusted),
        )
        for pair, p in zip(pairs, p_values, strict=True)
    ]


def _groups(results: StudyResults) -> pl.DataFrame:
    """Each block with its data set and backbone."""
    return results.selection.select("block", "dataset", "backbone").unique("block")


def _scores(results: StudyResults) -> Mapping[tuple[str, str], float]:
    """(block, loss) -> tuned test score in percent."""
    tested = results.selection.drop_nulls("test_winner").group_by("block", "loss")
    means = tested.agg(pl.col("test_winner").sort().mean() * PERCENT)
    return {(block, loss): value for block, loss, value in means.iter_rows()}
