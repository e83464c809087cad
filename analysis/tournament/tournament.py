"""The tournament: competitors ranked within blocks, and how far the ranks can be trusted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from podium.analysis.estimates.intraclass_correlation import intraclass_correlation
from podium.analysis.estimates.ranks import Standing, average_ranks, standings
from podium.analysis.hypothesis_tests.cliques import homogeneous_groups
from podium.analysis.hypothesis_tests.friedman import Friedman, friedman_test
from podium.analysis.hypothesis_tests.nemenyi import (
    PoolSensitivity,
    critical_difference,
    pool_sensitivity,
)
from podium.analysis.hypothesis_tests.pairwise_comparisons import (
    Pair,
    SmallestP,
    compare_pairs,
    p_value_matrix,
    smallest_p,
)
from podium.analysis.hypothesis_tests.skillings_mack import (
    AvailableRank,
    SkillingsMack,
    available_ranks,
    skillings_mack,
)
from podium.analysis.tournament.block_groups import BlockGroups, block_groups, members_by
from podium.analysis.tournament.repeated_runs import IndependentUnits, RepeatedRuns
from podium.errors import PodiumError
from podium.orchestrator.results.records.tournament_rules import PrimaryTest, Question

_MOST_COMPETITORS = 1000  # each pair is tested

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


@dataclass(frozen=True, kw_only=True)
class Tournament:
    """A rank tournament; tests are computed on first use, and kept.

    Competitors are ranked within blocks. Tests ask whether the order would hold on another data
    set or backbone; their unit is the group of blocks that share both, by the mean scores of its
    blocks. Where each group is one block, these are the scores. With ``run_scores`` they ask
    whether it would hold on these blocks, were the runs repeated; then their unit is the run.

    C competitors, best first everywhere; B blocks used, sorted by key; U units of the tests.

    Attributes:
        by: columns that name a block.
        blocks: key of each block used: column -> value.
        standings: ranking, best first.
        scores_BC: scores that were ranked, columns in the order of ``standings``.
        excluded: blocks left out for a missing score.
        available: ranks and test over all blocks; None if no block was left out.
        test: primary test, by which ``Pair.p`` and ``groups`` are.
        alpha: significance level of all verdicts.
        run_scores: of each block the scores of its shared runs, runs x C, if tests ask about
            these blocks; None if they ask about others.
    """

    by: tuple[str, ...]
    blocks: tuple[Mapping[str, object], ...]
    standings: tuple[Standing, ...]
    scores_BC: NDArray[np.float64]
    excluded: tuple[IncompleteBlock, ...]
    available: Available | None
    test: PrimaryTest
    alpha: float
    run_scores: tuple[NDArray[np.float64], ...] | None = None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The competitors, best first."""
        return tuple(standing.competitor for standing in self.standings)

    @property
    def block_labels(self) -> tuple[str, ...]:
        """Keys of the blocks as text, values joined by ``/``."""
        return tuple(_label(block.values()) for block in self.blocks)

    @cached_property
    def block_groups(self) -> BlockGroups:
        """The groups of blocks."""
        return block_groups(self.blocks, self.block_labels)

    @property
    def question(self) -> Question:
        """What the tests ask."""
        return "other_blocks" if self.run_scores is None else "these_blocks"

    @cached_property
    def units(self) -> IndependentUnits:
        """What the tests count as independent."""
        if self.run_scores is None:
            return self.block_groups
        return RepeatedRuns(runs_of_blocks=tuple(map(len, self.run_scores)))

    @cached_property
    def unit_scores_UC(self) -> NDArray[np.float64]:
        """Scores of the units: means within groups of blocks, or the runs of all blocks."""
        if self.run_scores is None:
            return self.block_groups.means(self.scores_BC)
        return np.concatenate(self.run_scores)

    @property
    def nemenyi_scores_XC(self) -> NDArray[np.float64]:
        """Scores whose average ranks Nemenyi's test compares: those of blocks, or of runs."""
        return self.scores_BC if self.run_scores is None else self.unit_scores_UC

    @cached_property
    def intraclass_correlation(self) -> float | None:
        """How much blocks of one group agree in their order; None without groups of blocks."""
        return intraclass_correlation(self.scores_BC, self.block_groups.members)

    @cached_property
    def factor_correlations(self) -> Mapping[str, float]:
        """``dataset``, ``backbone`` -> the same over blocks that share it alone, where defined."""
        members = {name: members_by(self.blocks, name) for name in self.block_groups.columns}
        found = {
            name: intraclass_correlation(self.scores_BC, blocks)
            for name, blocks in members.items()
            if len(blocks) < self.block_groups.number
        }
        return {name: value for name, value in found.items() if value is not None}

    @property
    def nemenyi_ranks(self) -> Mapping[str, float]:
        """Competitor -> the average rank that Nemenyi's test compares, over blocks or runs."""
        if self.run_scores is None:
            return {standing.competitor: standing.average_rank for standing in self.standings}
        averages_C = average_ranks(self.unit_scores_UC).mean(axis=0)
        return dict(zip(self.names, averages_C.tolist(), strict=True))

    @property
    def is_descriptive(self) -> bool:
        """Whether there are too few units for any test, so that all there is is an order."""
        return bool(self.units.why_untestable)

    @cached_property
    def ranks_BC(self) -> NDArray[np.float64]:
        """Average ranks within blocks."""
        return average_ranks(self.scores_BC)

    @cached_property
    def friedman(self) -> Friedman | None:
        """Omnibus test over units; None with two competitors or without tests."""
        return friedman_test(average_ranks(self.unit_scores_UC)) if self._has_omnibus else None

    @cached_property
    def critical_difference(self) -> float | None:
        """Nemenyi's with as many blocks as there are units; None like ``friedman``."""
        if not self._has_omnibus:
            return None
        return critical_difference(len(self.standings), self.units.number, self.alpha)

    @cached_property
    def pool(self) -> PoolSensitivity | None:
        """Nemenyi's verdicts if only the best five had taken part; None with five or fewer."""
        if not self._has_omnibus:
            return None
        return pool_sensitivity(
            self.names, self.nemenyi_scores_XC, self.alpha, num_independent=self.units.number
        )

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """All pairwise comparisons, ``a`` the better placed."""
        return compare_pairs(
            self.names,
            self.scores_BC,
            self.unit_scores_UC if not self.is_descriptive else None,
            nemenyi_scores_XC=self.nemenyi_scores_XC,
            test=self.test,
        )

    @cached_property
    def different(self) -> frozenset[frozenset[str]]:
        """The pairs of competitors that differ significantly by the primary test."""
        differing = (pair for pair in self.pairs if pair.differs(self.alpha))
        return frozenset(frozenset((pair.a, pair.b)) for pair in differing)

    @cached_property
    def smallest_p(self) -> SmallestP | None:
        """Least p that any pair could reach; None without tests."""
        if self.is_descriptive:
            return None
        return smallest_p(self.units.number, len(self.standings), self.test)

    @property
    def can_differ(self) -> bool:
        """Whether any pair could differ significantly with so many blocks."""
        smallest = self.smallest_p
        return smallest is not None and smallest.adjusted <= self.alpha

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Maximal sets of competitors without a significant difference by the primary test."""
        return self._groups(nemenyi=False)

    @cached_property
    def nemenyi_groups(self) -> tuple[tuple[str, ...], ...]:
        """The same sets by Nemenyi's test."""
        return self._groups(nemenyi=True)

    @property
    def _has_omnibus(self) -> bool:
        return not self.is_descriptive and len(self.standings) > 2

    def _groups(self, *, nemenyi: bool) -> tuple[tuple[str, ...], ...]:
        p_CC = p_value_matrix(self.names, self.pairs, nemenyi=nemenyi)
        groups = homogeneous_groups(p_CC, self.alpha)
        return tuple(tuple(self.names[c] for c in group) for group in groups)


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
            Nemenyi) or more than 1,000, or no complete block.
    """
    keys, names, scores = score_matrix(table, by, competitor, score)
    if len(names) < 2:
        raise PodiumError(
            f"a tournament needs at least two competitors; column {competitor!r} holds "
            f"{', '.join(names) or 'none'}"
        )
    if len(names) > _MOST_COMPETITORS:
        raise PodiumError(
            f"a tournament compares at most {_MOST_COMPETITORS:,} competitors; column"
            f" {competitor!r} holds {len(names):,}"
        )
    if test == "nemenyi" and len(names) < 3:
        raise PodiumError(
            f"the test nemenyi compares at least three competitors; got {', '.join(names)}"
        )
    is_complete = ~np.isnan(scores).any(axis=1)
    excluded = tuple(
        IncompleteBlock(block=_label(key), missing=tuple(np.array(names)[np.isnan(row)].tolist()))
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
    ranking = standings(names, scores[is_complete])
    order = [names.index(standing.competitor) for standing in ranking]
    return Tournament(
        by=tuple(by),
        blocks=tuple(keys.filter(pl.Series(is_complete)).to_dicts()),
        standings=ranking,
        scores_BC=np.ascontiguousarray(scores[is_complete][:, order]),
        excluded=excluded,
        available=available,
        test=test,
        alpha=alpha,
    )


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


def _label(key: Iterable[object]) -> str:
    return "/".join(str(value) for value in key)
