"""The tournament of a table of scores, by its rules, with all that its page shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from podium.analysis.tournament.block_runs import BlockRuns, RunScores, block_runs, run_scores
from podium.analysis.tournament.loss_groups import LossGroups, check_groups, compare_groups
from podium.analysis.tournament.rank_stability import RankStability, rank_stability
from podium.analysis.tournament.repeated_runs import shared_runs
from podium.analysis.tournament.tournament import Tournament, hold_tournament
from podium.analysis.typed_tables.score_table import ScoreTable
from podium.orchestrator.results.records.tournament_rules import TournamentRules

_DEFAULT_RULES = TournamentRules()


@dataclass(frozen=True, slots=True, kw_only=True)
class TableResults:
    """A table of scores with its tournament.

    Attributes:
        table: scores as read from the file.
        tournament: ranking of the competitors of the table.
        stability: resampled ranks of the tournament; None if nothing could be resampled.
        rules_from: who chose question, test and level, in words.
        runs: scores of the runs behind the cells of the tournament; of single runs the cells.
        loss_groups: groups of competitors beside each other; None unless they were asked for.
    """

    table: ScoreTable
    tournament: Tournament
    stability: RankStability | None
    rules_from: str
    runs: RunScores = ()
    loss_groups: LossGroups | None = None

    @property
    def score(self) -> str:
        """The column of scores, by its name in the file."""
        return self.table.score


def hold_by_rules(
    table: ScoreTable, rules: TournamentRules, *, scale: float = 1.0
) -> tuple[Tournament, tuple[BlockRuns, ...] | None]:
    """The tournament of a table, and the runs behind its cells; None if no cell has two.

    Args:
        table: scores by block and competitor.
        rules: question, test and level.
        scale: factor from the scores of the table to those of the tournament, such as 100 for
            percent.

    Raises:
        PodiumError: fewer than two competitors, or no complete block.
    """
    held = hold_tournament(
        table.cells.with_columns(pl.col(table.score) * scale),
        by=table.by,
        competitor=table.competitor,
        score=table.score,
        alpha=rules.alpha,
        test=rules.test,
    )
    runs = block_runs(table, held)
    if rules.question == "these_blocks":
        held = replace(held, run_scores=shared_runs(run_scores(held, runs, scale=scale)))
    return held, runs


def rank_table(
    table: ScoreTable,
    rules: TournamentRules = _DEFAULT_RULES,
    groups: Mapping[str, Sequence[str]] | None = None,
) -> TableResults:
    """Hold the tournament of a table, with all that its page shows.

    Args:
        table: scores by block and competitor.
        rules: question, test and level.
        groups: name -> competitors of the groups to compare; None for none.

    Raises:
        PodiumError: fewer than two competitors, no complete block, or a group has a name that is
            no competitor's.
    """
    tournament, runs = hold_by_rules(table, rules)
    if groups is not None:
        check_groups(groups, tournament.names)
    return TableResults(
        table=table,
        tournament=tournament,
        stability=rank_stability(tournament, runs),
        rules_from="podium's default" if rules == _DEFAULT_RULES else "given with the command",
        runs=run_scores(tournament, runs),
        loss_groups=compare_groups(tournament, groups) if groups else None,
    )
