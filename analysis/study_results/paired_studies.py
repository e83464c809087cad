"""Scores of one loss in two studies, on blocks that were tested on the same images.

Suffix of arrays: B blocks that both studies tested alike.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analysis.estimates.confidence_intervals import Interval, t_interval
from analysis.hypothesis_tests.pairwise_comparisons import holm
from analysis.hypothesis_tests.wilcoxon import signed_rank_test
from analysis.study_results.study_results import PERCENT, StudyResults


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
        difference: first minus second, with Student's t interval over blocks.
        wins: number of blocks in which the first study scored higher.
        ties: number of blocks in which both scored the same.
        losses: number of blocks in which the first study scored lower.
        p_value: p-value of the two-sided exact Wilcoxon signed-rank test; None with one block.
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
        pairs: list[tuple[str, NDArray[np.float64], NDArray[np.float64]]] = []
        for loss in sorted(set(first.losses) & set(second.losses)):
            both = [b for b in blocks if all((b, loss) in values for values in scores)]
            if both:
                a_B, b_B = (np.array([values[b, loss] for b in both]) for values in scores)
                pairs.append((loss, a_B, b_B))
        found += _compared(i, j, pairs)
    return tuple(found)


def _compared(
    i: int, j: int, pairs: Sequence[tuple[str, NDArray[np.float64], NDArray[np.float64]]]
) -> list[PairedLoss]:
    p_values = [
        signed_rank_test(a_B, b_B).p_value if len(a_B) > 1 else None for _, a_B, b_B in pairs
    ]
    known = [p for p in p_values if p is not None]
    adjusted = iter(holm(known))
    return [
        PairedLoss(
            loss=loss,
            first=i,
            second=j,
            num_blocks=len(a_B),
            mean_first=float(a_B.mean()),
            mean_second=float(b_B.mean()),
            difference=t_interval((a_B - b_B).tolist()),
            wins=int((a_B > b_B).sum()),
            ties=int((a_B == b_B).sum()),
            losses=int((a_B < b_B).sum()),
            p_value=p,
            p_holm=None if p is None else next(adjusted),
        )
        for (loss, a_B, b_B), p in zip(pairs, p_values, strict=True)
    ]


def _scores(results: StudyResults) -> Mapping[tuple[str, str], float]:
    """(block, loss) -> tuned test score in percent."""
    tested = results.selection.drop_nulls("test_winner").group_by("block", "loss")
    means = tested.agg(pl.col("test_winner").sort().mean() * PERCENT)
    return {(block, loss): value for block, loss, value in means.iter_rows()}
