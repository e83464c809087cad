"""The same ranking within subgroups of the blocks: per K, backbone, data set, dimension."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from analysis.estimates.ranks import Standing, standings
from analysis.tournament.tournament import score_matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class Subgroup:
    """The blocks with one value of a factor, ranked by themselves.

    Attributes:
        factor: name of a column, such as ``backbone``.
        value: value of the factor in these blocks.
        standings: ranking, best first; empty if no block holds a score of every competitor.
        num_blocks: number of blocks ranked.
        num_excluded: number of blocks left out for a missing score.
    """

    factor: str
    value: object
    standings: tuple[Standing, ...]
    num_blocks: int
    num_excluded: int

    @property
    def standing_of(self) -> dict[str, Standing]:
        """Competitor -> its standing."""
        return {standing.competitor: standing for standing in self.standings}


def rank_subgroups(
    table: pl.DataFrame, *, factor: str, by: Sequence[str], competitor: str, score: str
) -> tuple[Subgroup, ...]:
    """Rank within each value of a factor, by the rules of a tournament.

    Competitors of a subgroup are those with a score in it; where one of them lacks a block, the
    block is left out. Places among different sets of competitors are not comparable. Subgroups
    share seeds, images and often runs, so they are not independent and are not tested. Row order
    does not matter.

    Args:
        table: one row per block and competitor.
        factor: column whose values define the subgroups; null is a value.
        by: all columns whose values together name a block, with or without ``factor``.
        competitor: column of competitors.
        score: column of scores; higher is better.

    Returns:
        The subgroups, sorted by value.

    Raises:
        PodiumError: two rows of one block and competitor.
    """
    values = table[factor].unique().sort().to_list()
    scored = table.filter(pl.col(score).cast(pl.Float64).fill_nan(None).is_not_null())
    return tuple(
        _ranked(
            scored.filter(pl.col(factor).eq_missing(value)),
            factor=factor,
            value=value,
            by=by,
            competitor=competitor,
            score=score,
        )
        for value in values
    )


def _ranked(
    part: pl.DataFrame,
    *,
    factor: str,
    value: object,
    by: Sequence[str],
    competitor: str,
    score: str,
) -> Subgroup:
    _, names, scores_BC = score_matrix(part, by, competitor, score)
    is_complete_B = ~np.isnan(scores_BC).any(axis=1)
    num_blocks = int(is_complete_B.sum())
    return Subgroup(
        factor=factor,
        value=value,
        standings=standings(names, scores_BC[is_complete_B]) if num_blocks else (),
        num_blocks=num_blocks,
        num_excluded=len(scores_BC) - num_blocks,
    )
