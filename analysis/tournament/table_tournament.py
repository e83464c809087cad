"""The tournament of a published table, with all that its page shows."""

from dataclasses import dataclass

from analysis.tournament.block_runs import block_runs
from analysis.tournament.rank_stability import RankStability, rank_stability
from analysis.tournament.sensitivity_to_test import SensitivityToTest, sensitivity_to_test
from analysis.tournament.tournament import Tournament, hold_tournament
from analysis.typed_tables.score_table import ScoreTable


@dataclass(frozen=True, slots=True, kw_only=True)
class TableResults:
    """A table of scores with its tournament.

    Attributes:
        table: scores as read from the file.
        tournament: ranking of the competitors of the table.
        stability: resampled ranks of the tournament; None if nothing could be resampled.
        sensitivity_to_test: the tournament under other tests; None with a single block.
    """

    table: ScoreTable
    tournament: Tournament
    stability: RankStability | None
    sensitivity_to_test: SensitivityToTest | None

    @property
    def score(self) -> str:
        """The column of scores, by its name in the file."""
        return self.table.score


def rank_table(table: ScoreTable) -> TableResults:
    """Hold the tournament of a table.

    Raises:
        PodiumError: fewer than two competitors, or no complete block.
    """
    tournament = hold_tournament(
        table.cells, by=table.by, competitor=table.competitor, score=table.score
    )
    runs = block_runs(table, tournament)
    return TableResults(
        table=table,
        tournament=tournament,
        stability=rank_stability(tournament, runs),
        sensitivity_to_test=sensitivity_to_test(tournament, runs),
    )
