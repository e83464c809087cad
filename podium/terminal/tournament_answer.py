"""What ``podium tournament`` prints."""

from collections import Counter

from podium.analysis.tournament.tournament import Tournament
from podium.analysis.tournament.verdict_text import verdict_sentences
from podium.analysis.typed_tables.score_table import ScoreTable
from podium.analysis.wording import counted
from podium.orchestrator.results.records.fairness_record import Fairness
from podium.terminal.fairness_text import difference_notes
from podium.terminal.printing import paragraphs, rounded, say, table_text


def tournament_answer(
    table: ScoreTable,
    tournament: Tournament,
    pseudo: Tournament | None,
    fairness: Fairness | None,
    said: str,
) -> str:
    """Ranks, tests and warnings in 80 columns.

    Args:
        table: table of scores that was ranked.
        tournament: tournament held on ``table``.
        pseudo: runs of a single block ranked one by one; None with several blocks.
        fairness: what is equal between the losses of a study; None for a table.
        said: headline of the tournament.
    """
    num_blocks = len(tournament.blocks)
    title = (
        f"{len(tournament.names)} competitors ranked by {table.score} within "
        f"{counted(num_blocks, 'setting')} ({' x '.join(table.by)})"
    )
    parts = [title, *_all_blocks_text(tournament), _standings_text(tournament)]
    if pseudo is not None:
        parts += [
            f"Each {' and '.join(table.run_columns)} ranked on its own, for description only:",
            _standings_text(pseudo),
        ]
    parts += [said, *verdict_sentences(tournament)]
    parts += [f"Warning: {line}" for line in table.warnings]
    parts += difference_notes(fairness) if fairness else []
    return paragraphs(parts)


def _standings_text(tournament: Tournament) -> str:
    """The leaderboard, one row a competitor, best first, rounded to be read."""
    held = Counter(standing.place for standing in tournament.standings)
    rows = [
        {
            "place": f"{standing.place} shared" if held[standing.place] > 1 else standing.place,
            "competitor": standing.competitor,
            "total": _whole(standing.total_rank),
            "average": round(standing.average_rank, 2),
            "sd": rounded(standing.rank_std, 2),
            "min": _whole(standing.min_rank),
            "max": _whole(standing.max_rank),
            "wins": standing.wins,
            "mean score": standing.mean_score,
        }
        for standing in tournament.standings
    ]
    return table_text(rows)


def _all_blocks_text(tournament: Tournament) -> list[str]:
    """The order over all blocks, if the ranking leaves out those that lack scores."""
    if not tournament.available:
        return []
    rows = [
        {
            "competitor": rank.competitor,
            "rank sum": rounded(rank.rank_sum, 2),
            "beaten by": rounded(rank.beaten_by, 2),
            "blocks": rank.num_blocks,
        }
        for rank in tournament.available
    ]
    return [
        "All settings, by the sum of ranks (a missing score is the middle rank):",
        table_text(rows),
        "Those with all scores alone:",
    ]


def _whole(rank: float) -> int | float:
    return int(rank) if rank.is_integer() else rank


def say_reading(table: ScoreTable) -> None:
    """Print what a table was taken for to standard error, and why it can hold no tournament."""
    if table.reading is None:
        return
    say(table.reading.line(), err=True)
    if not table.has_complete_block():
        for warning in table.warnings:
            say(warning, err=True)
