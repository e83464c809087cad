"""The tournament: competitors ranked within blocks, and how far the ranks can be trusted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analysis.estimates.ranks import Standing, average_ranks, standings
from analysis.hypothesis_tests.cliques import homogeneous_groups
from analysis.hypothesis_tests.friedman import Friedman, friedman_test
from analysis.hypothesis_tests.nemenyi import (
    PoolSensitivity,
    critical_difference,
    pool_sensitivity,
)
from analysis.hypothesis_tests.pairwise_comparisons import (
    Pair,
    SmallestP,
    compare_pairs,
    p_value_matrix,
    smallest_p,
)
from analysis.hypothesis_tests.skillings_mack import (
    AvailableRank,
    SkillingsMack,
    available_ranks,
    skillings_mack,
)
from orchestrator.results.records.tournament_rules import PrimaryTest
from podium.errors import PodiumError

__all__ = ["Available", "IncompleteBlock", "Tournament", "hold_tournament", "score_matrix"]

# Names that no column of a user's table has.
_SCORE = "__score"
_COMPETITOR = "__competitor"
_ROW = "__row"
_COLUMN = "__column"


@dataclass(frozen=True, slots=True, kw_only=True)
class IncompleteBlock:
    """A block left out because it lacks a score of some competitors."""

    block: str
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Available:
    """Ranks over all blocks, also those left out of the ranking for missing scores.

    ``test`` is None where it is not defined, such as with two competitors.
    """

    ranks: tuple[AvailableRank, ...]
    test: SkillingsMack | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tournament:
    """A rank tournament. C competitors, best first everywhere; B blocks used, sorted by key.

    Attributes:
        by: columns that name a block.
        blocks: key of each block used: column -> value.
        block_labels: keys of the blocks as text, values joined by ``/``.
        standings: ranking, best first.
        scores_BC: scores that were ranked, columns in the order of ``standings``.
        ranks_BC: average ranks within blocks.
        excluded: blocks left out for a missing score.
        available: ranks and test over all blocks; None if no block was left out.
        test: primary test, by which ``Pair.p`` and ``groups`` are.
        alpha: significance level of all verdicts.
        friedman: omnibus test; None with two competitors or one block.
        critical_difference: Nemenyi's, in average ranks; None like ``friedman``.
        pool: Nemenyi's verdicts if only the best five had taken part; None with five or fewer.
        pairs: all pairwise comparisons, ``a`` the better placed.
        smallest_p: least p that any pair could reach; None with one block.
        groups: maximal sets of competitors without a significant difference by the primary test.
        nemenyi_groups: the same sets by Nemenyi's test.
    """

    by: tuple[str, ...]
    blocks: tuple[Mapping[str, object], ...]
    block_labels: tuple[str, ...]
    standings: tuple[Standing, ...]
    scores_BC: NDArray[np.float64]
    ranks_BC: NDArray[np.float64]
    excluded: tuple[IncompleteBlock, ...]
    available: Available | None
    test: PrimaryTest
    alpha: float
    friedman: Friedman | None
    critical_difference: float | None
    pool: PoolSensitivity | None
    pairs: tuple[Pair, ...]
    smallest_p: SmallestP | None
    groups: tuple[tuple[str, ...], ...]
    nemenyi_groups: tuple[tuple[str, ...], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The competitors, best first."""
        return tuple(standing.competitor for standing in self.standings)

    @property
    def is_descriptive(self) -> bool:
        """Whether there is a single block, which shows an order but supports no test."""
        return len(self.blocks) == 1


def hold_tournament(
    table: pl.DataFrame,
    *,
    by: Sequence[str],
    competitor: str,
    score: str,
    alpha: float = 0.05,
    test: PrimaryTest = "wilcoxon_holm",
) -> Tournament:
    """Rank competitors within blocks; higher scores are better.

    A missing, null or NaN score makes its block incomplete: the block is left out and listed,
    since a rank within fewer competitors is not comparable. Row order does not matter.

    Args:
        table: one row per block and competitor.
        by: columns whose values together name a block.
        competitor: column of competitors.
        score: column of scores.
        alpha: significance level of all verdicts.
        test: primary test.

    Raises:
        PodiumError: two rows of one block and competitor, fewer than two competitors (three for
            Nemenyi), or no complete block.
    """
    keys, names, scores = score_matrix(table, by, competitor, score)
    if len(names) < 2:
        raise PodiumError(
            f"a tournament needs at least two competitors; column {competitor!r} holds "
            f"{', '.join(names) or 'none'}"
        )
    if test == "nemenyi" and len(names) < 3:
        raise PodiumError(
            f"the test nemenyi compares at least three competitors; got {', '.join(names)}"
        )
    is_complete = ~np.isnan(scores).any(axis=1)
    excluded = tuple(
        IncompleteBlock(
            block=_label(key),
            missing=tuple(np.array(names)[np.isnan(row)].tolist()),
        )
        for key, row in zip(
            keys.filter(pl.Series(~is_complete)).rows(), scores[~is_complete], strict=True
        )
    )
    if not is_complete.any():
        raise PodiumError(
            f"no block holds a score of every competitor; {excluded[0].block} lacks "
            f"{', '.join(excluded[0].missing)}"
        )
    available = (
        Available(ranks=available_ranks(names, scores), test=skillings_mack(scores))
        if excluded
        else None
    )
    used = keys.filter(pl.Series(is_complete))
    return _ranked(names, scores[is_complete], used, excluded, available, alpha, test)


def score_matrix(
    table: pl.DataFrame, by: Sequence[str], competitor: str, score: str
) -> tuple[pl.DataFrame, list[str], NDArray[np.float64]]:
    """Block keys (sorted), competitors (sorted), and their scores; missing ones are NaN."""
    long = table.select(
        *by,
        pl.col(competitor).cast(pl.String).alias(_COMPETITOR),
        pl.col(score).cast(pl.Float64).alias(_SCORE),
    )
    counts = long.group_by(*by, _COMPETITOR).len(name=_ROW)
    twice = counts.filter(pl.col(_ROW) > 1).sort(*by, _COMPETITOR)
    if len(twice):
        *key, name, count = twice.row(0)
        raise PodiumError(
            "a block must hold one score of each competitor; "
            f"{_label(key)} holds {count} of {name}"
        )
    keys = long.select(by).unique().sort(*by)
    names = long.select(pl.col(_COMPETITOR).unique().sort())
    placed = long.join(keys.with_row_index(_ROW), on=list(by), nulls_equal=True).join(
        names.with_row_index(_COLUMN), on=_COMPETITOR, nulls_equal=True
    )
    scores = np.full((len(keys), len(names)), np.nan)
    scores[placed[_ROW].to_numpy(), placed[_COLUMN].to_numpy()] = placed[_SCORE].to_numpy()
    return keys, names[_COMPETITOR].to_list(), scores


def _ranked(
    names: Sequence[str],
    scores_BC: NDArray[np.float64],
    keys: pl.DataFrame,
    excluded: tuple[IncompleteBlock, ...],
    available: Available | None,
    alpha: float,
    test: PrimaryTest,
) -> Tournament:
    table = standings(names, scores_BC)
    order = [names.index(standing.competitor) for standing in table]
    ordered_names = [names[c] for c in order]
    ordered_BC = np.ascontiguousarray(scores_BC[:, order])
    ranks_BC = average_ranks(ordered_BC)
    num_blocks, num_competitors = ranks_BC.shape
    pairs = compare_pairs(ordered_names, ordered_BC, test=test)
    has_omnibus = num_blocks > 1 and num_competitors > 2
    return Tournament(
        by=tuple(keys.columns),
        blocks=tuple(keys.to_dicts()),
        block_labels=tuple(_label(key) for key in keys.rows()),
        standings=table,
        scores_BC=ordered_BC,
        ranks_BC=ranks_BC,
        excluded=excluded,
        available=available,
        test=test,
        alpha=alpha,
        friedman=friedman_test(ranks_BC) if has_omnibus else None,
        critical_difference=critical_difference(num_competitors, num_blocks, alpha)
        if has_omnibus
        else None,
        pool=pool_sensitivity(ordered_names, ordered_BC, alpha) if has_omnibus else None,
        pairs=pairs,
        smallest_p=smallest_p(num_blocks, num_competitors, test) if num_blocks > 1 else None,
        groups=_groups(ordered_names, pairs, alpha, nemenyi=False),
        nemenyi_groups=_groups(ordered_names, pairs, alpha, nemenyi=True),
    )


def _groups(
    names: Sequence[str], pairs: Sequence[Pair], alpha: float, *, nemenyi: bool
) -> tuple[tuple[str, ...], ...]:
    p_CC = p_value_matrix(names, pairs, nemenyi=nemenyi)
    return tuple(tuple(names[c] for c in group) for group in homogeneous_groups(p_CC, alpha))


def _label(key: Sequence[object]) -> str:
    return "/".join(str(value) for value in key)
