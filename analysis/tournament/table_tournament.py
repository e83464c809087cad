"""The tournament of a table of scores, by its rules, with all that its page shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from podium.analysis.tournament.block_runs import run_scores
from podium.analysis.tournament.loss_groups import LossGroups, check_groups, compare_groups
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
        rules_from: who chose question and level, in words.
        loss_groups: groups of competitors beside each other; None unless they were asked for.
    """

    table: ScoreTable
    tournament: Tournament
    rules_from: str
    loss_groups: LossGroups | None = None

    @property
    def score(self) -> str:
        """The column of scores, by its name in the file."""
        return self.table.score

    @property
    def score_shown(self) -> str:
        """What the scores of the tournament are; their unit is that of the file."""
        return self.table.score


def hold_by_rules(table: ScoreTable, rules: TournamentRules, *, scale: float = 1.0) -> Tournament:
    """The tournament of a table, with the runs behind its cells.

    Args:
        table: scores by block and competitor.
        rules: question, level, and what is compared.
        scale: factor from the scores of the table to those of the tournament, such as 100 for
            percent.

    Raises:
        PodiumError: as of `hold_tournament`.
    """
    held = hold_tournament(
        table.cells.with_columns(pl.col(table.score) * scale),
        by=table.by,
        competitor=table.competitor,
        score=table.score,
        rules=rules,
    )
    runs = run_scores(table, held.blocks, held.names, scale=scale)
    return held if runs is None else replace(held, runs=runs[0], run_noun=runs[1])


def rank_table(
    table: ScoreTable,
    rules: TournamentRules = _DEFAULT_RULES,
    groups: Mapping[str, Sequence[str]] | None = None,
) -> TableResults:
    """Hold the tournament of a table, with all that its page shows.

    Raises:
        PodiumError: fewer than two competitors, no complete block, or a group has a name that is
            no competitor's.
    """
    tournament = hold_by_rules(table, rules)
    if groups is not None:
        check_groups(groups, tournament.names)
    return TableResults(
        table=table,
        tournament=tournament,
        rules_from="podium's default" if rules == _DEFAULT_RULES else "given with the command",
        loss_groups=compare_groups(tournament, groups) if groups else None,
    )
