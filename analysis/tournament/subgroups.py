"""The same ranking within parts of the blocks: per K, backbone, data set, dimension."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from analysis.estimates.ranks import Standing, standings
from analysis.tournament.tournament import score_matrix

__all__ = ["Slice", "slices_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """The blocks with one value of a factor, ranked by themselves.

    Attributes:
        factor: a column, such as ``backbone``.
        value: of the factor.
        standings: best first; empty if no block holds a score of every competitor.
        num_blocks: ranked.
        num_excluded: left out for a missing score.
    """

    factor: str
    value: object
    standings: tuple[Standing, ...]
    num_blocks: int
    num_excluded: int


def slices_of(
    table: pl.DataFrame, *, factor: str, by: Sequence[str], competitor: str, score: str
) -> tuple[Slice, ...]:
    """Rank within each value of a factor, by the rules of a tournament.

    Competitors of a slice are those with a score in it; where one of them lacks a block, the block
    is left out. Places among unlike competitors are not comparable.
    Slices share seeds, images and often runs, so that they are no independent witnesses; no test
    is made of them. Row order does not matter.

    Args:
        table: one row per block and competitor.
        factor: the column whose values part the blocks; nulls are a value.
        by: columns whose values together name a block; all of them, ``factor`` among them or not.
        competitor: column of competitors.
        score: column of scores; higher is better.

    Returns:
        Sorted by value.

    Raises:
        PodiumError: two rows of one block and competitor.
    """
    values = table[factor].unique().sort().to_list()
    scored = table.filter(pl.col(score).cast(pl.Float64).fill_nan(None).is_not_null())
    return tuple(
        _slice(
            scored.filter(pl.col(factor).eq_missing(value)),
            factor=factor,
            value=value,
            by=by,
            competitor=competitor,
            score=score,
        )
        for value in values
    )


def _slice(
    part: pl.DataFrame,
    *,
    factor: str,
    value: object,
    by: Sequence[str],
    competitor: str,
    score: str,
) -> Slice:
    _, names, scores_BC = score_matrix(part, by, competitor, score)
    is_complete_B = ~np.isnan(scores_BC).any(axis=1)
    num_blocks = int(is_complete_B.sum())
    return Slice(
        factor=factor,
        value=value,
        standings=standings(names, scores_BC[is_complete_B]) if num_blocks else (),
        num_blocks=num_blocks,
        num_excluded=len(scores_BC) - num_blocks,
    )
