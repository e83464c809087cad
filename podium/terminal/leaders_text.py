"""What a run ends with: the first three of the leaderboard, and the verdict."""

from podium.analysis.tournament.tournament import Tournament
from podium.analysis.wording import number
from podium.terminal.fitting_table import terminal_width, whole_table
from podium.terminal.printing import filled

_NUM_LEADERS = 3


def leaders_text(tournament: Tournament | None, headline: str, *, score: str) -> str:
    """The first three with mean rank and mean score, then the headline of the report.

    Args:
        tournament: the ranking; None where there is none, as the headline then says.
        headline: the verdict, which also says where no ranking can be supported.
        score: what the scores are, such as ``Recall@1``; the tournament has them in percent.
    """
    verdict = filled(headline, terminal_width())
    if tournament is None:
        return verdict
    rows = [
        {
            "loss": standing.competitor,
            "rank": standing.place,
            "average rank": number(standing.average_rank),
            f"mean {score}, %": number(standing.mean_score),
        }
        for standing in tournament.standings[:_NUM_LEADERS]
    ]
    return f"{whole_table(rows)}\n\n{verdict}"
