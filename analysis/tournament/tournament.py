"""The tournament: competitors ranked within blocks, and how far the ranks can be trusted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from podium.analysis.estimates.ranks import (
    AvailableRank,
    Standing,
    available_ranks,
    average_ranks,
    standings,
)
from podium.analysis.hypothesis_tests.pairwise_comparisons import Pair, compare_pairs
from podium.analysis.hypothesis_tests.sign_flip_test import fewest_units
from podium.analysis.tournament.block_groups import (
    Units,
    block_units,
    left_out_labels,
    members,
    run_units,
    shared_runs,
)
from podium.analysis.tournament.block_runs import RunScores
from podium.analysis.typed_tables.table_checks import block_text
from podium.errors import PodiumError
from podium.orchestrator.results.records.tournament_rules import OF_THREE, TournamentRules

_DEFAULT_RULES = TournamentRules()
_MOST_COMPETITORS = 1000  # each pair is tested

# Names that no column of a user's table has.
_SCORE = "__score"
_COMPETITOR = "__competitor"
_ROW = "__row"
_COLUMN = "__column"


@dataclass(frozen=True, kw_only=True)
class Tournament:
    """A rank tournament; tests are computed on first use, and kept.

    Competitors are ranked within blocks. The test asks whether the order would hold elsewhere;
    its units (`block_groups`) are data sets or backbones, by the mean scores of their blocks. With
    the question ``these_blocks`` it asks whether the order would hold here, were the runs
    repeated; then its units are the runs.

    C competitors, best first everywhere; B blocks used, sorted by key; U units of the test.

    Attributes:
        by: columns that name a block.
        blocks: key of each block used: column -> value.
        standings: ranking, best first.
        scores_BC: scores that were ranked, columns in the order of ``standings``.
        excluded: blocks left out -> competitors whose score they lack.
        available: ranks over all blocks; empty if no block was left out.
        rules: question, level, the competitor that all others are compared with, if any, and the
            classic test that is reported too, if any.
        runs: of each block the scores of its runs, runs x C; those of cells where none has two.
        run_noun: what a run is: ``seed``, ``fold``, ``repeat``, or the column of a table.
    """

    by: tuple[str, ...]
    blocks: tuple[Mapping[str, object], ...]
    standings: tuple[Standing, ...]
    scores_BC: NDArray[np.float64]
    excluded: Mapping[str, tuple[str, ...]]
    available: tuple[AvailableRank, ...]
    rules: TournamentRules
    runs: RunScores
    run_noun: str = "run"

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The competitors, best first."""
        return tuple(standing.competitor for standing in self.standings)

    @property
    def block_labels(self) -> tuple[str, ...]:
        """Keys of the blocks as text, values joined by ``/``."""
        return tuple(block_text(block.values()) for block in self.blocks)

    @cached_property
    def block_units(self) -> Units:
        """The units of a test on other data sets or backbones."""
        return block_units(self.blocks, self.block_labels, fewest_units(self.rules.alpha))

    @cached_property
    def units(self) -> Units:
        """What the test counts as independent."""
        if self.rules.question == "other_blocks":
            return self.block_units
        counts = [len(scores_UC) for scores_UC in shared_runs(self.runs)]
        return run_units(counts, fewest_units(self.rules.alpha), self.run_noun)

    @cached_property
    def unit_scores_UC(self) -> NDArray[np.float64]:
        """Scores of the units: means over their blocks, or the runs of all blocks."""
        if self.rules.question == "other_blocks":
            return self.block_units.means(self.scores_BC)
        return np.concatenate(shared_runs(self.runs))

    @property
    def is_tested(self) -> bool:
        """Whether there are enough units for any difference to be significant."""
        return not self.units.why_untested

    @cached_property
    def ranks_BC(self) -> NDArray[np.float64]:
        """Average ranks within blocks."""
        return average_ranks(self.scores_BC)

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The comparisons that are asked: all, or those of one with all; ``a`` better placed."""
        return compare_pairs(
            self.names,
            self.scores_BC,
            self.unit_scores_UC if self.is_tested else None,
            alpha=self.rules.alpha,
            against=self.rules.against,
        )

    @cached_property
    def leaders_without(self) -> Mapping[str, tuple[str, ...]]:
        """Data set, else backbone, else block -> who is first without it; empty with one."""
        groups = members(left_out_labels(self.blocks, self.block_labels))
        if len(groups) < 2:
            return {}
        totals_C = self.ranks_BC.sum(axis=0)
        found = {}
        for label, blocks in groups.items():
            rest_C = totals_C - self.ranks_BC[blocks].sum(axis=0)
            first = np.flatnonzero(rest_C <= rest_C.min() + 1e-9)
            found[label] = tuple(self.names[c] for c in first)
        return found


def hold_tournament(
    table: pl.DataFrame,
    *,
    by: Sequence[str],
    competitor: str,
    score: str,
    rules: TournamentRules = _DEFAULT_RULES,
) -> Tournament:
    """Rank competitors within blocks; higher scores are better.

    A missing, null or NaN score makes its block incomplete: the block is left out and listed,
    since a rank within fewer competitors is not comparable. Row order does not matter.

    Args:
        table: one row per block and competitor.
        by: columns whose values together name a block.
        competitor: column of competitors.
        score: column of scores.
        rules: question, level, and what is compared.

    Raises:
        PodiumError: two rows of one block and competitor, fewer than two competitors or more than
            1,000, no complete block, or the rules name a competitor that is none.
    """
    keys, names, scores = score_matrix(table, by, competitor, score)
    _check_competitors(names, competitor, rules)
    is_complete = ~np.isnan(scores).any(axis=1)
    excluded = {
        block_text(key): tuple(np.array(names)[np.isnan(row)].tolist())
        for key, row in zip(
            keys.filter(pl.Series(~is_complete)).rows(), scores[~is_complete], strict=True
        )
    }
    if not is_complete.any():
        block, missing = next(iter(excluded.items()))
        raise PodiumError(
            f"no setting holds a score of every competitor; {block} lacks {', '.join(missing)}"
        )
    ranking = standings(names, scores[is_complete])
    order = [names.index(standing.competitor) for standing in ranking]
    ranked_BC = np.ascontiguousarray(scores[is_complete][:, order])
    return Tournament(
        by=tuple(by),
        blocks=tuple(keys.filter(pl.Series(is_complete)).to_dicts()),
        standings=ranking,
        scores_BC=ranked_BC,
        excluded=excluded,
        available=available_ranks(names, scores) if excluded else (),
        rules=rules,
        runs=tuple(row_C[None] for row_C in ranked_BC),
    )


def _check_competitors(names: Sequence[str], column: str, rules: TournamentRules) -> None:
    listed = ", ".join(names)
    if len(names) < 2:
        raise PodiumError(
            f"a tournament needs at least two competitors; column {column!r} holds"
            f" {listed or 'none'}"
        )
    if len(names) > _MOST_COMPETITORS:
        raise PodiumError(
            f"a tournament compares at most {_MOST_COMPETITORS:,} competitors; column"
            f" {column!r} holds {len(names):,}"
        )
    if rules.against is not None and rules.against not in names:
        raise PodiumError(f"against must be one of {listed}; got {rules.against!r}")
    if rules.test in OF_THREE and len(names) < 3:
        raise PodiumError(
            f"the test {rules.test} compares at least three competitors; got {listed}"
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
            f"{block_text(key)} holds {count} of {name}"
        )
    keys = long.select(by).unique().sort(*by)
    names = long.select(pl.col(_COMPETITOR).unique().sort())
    placed = long.join(keys.with_row_index(_ROW), on=list(by), nulls_equal=True).join(
        names.with_row_index(_COLUMN), on=_COMPETITOR, nulls_equal=True
    )
    scores = np.full((len(keys), len(names)), np.nan)
    scores[placed[_ROW].to_numpy(), placed[_COLUMN].to_numpy()] = placed[_SCORE].to_numpy()
    return keys, names[_COMPETITOR].to_list(), scores
