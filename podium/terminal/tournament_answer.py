"""What ``podium tournament`` prints."""

from podium.analysis.report.leaderboard import rank_tables
from podium.analysis.tournament.tournament import Tournament
from podium.analysis.tournament.verdict_text import verdict_sentences
from podium.analysis.typed_tables.score_table import ScoreTable
from podium.analysis.wording import counted
from podium.orchestrator.results.records.fairness_record import Fairness
from podium.terminal.fairness_text import difference_notes
from podium.terminal.printing import paragraphs, say
from podium.terminal.shown_table import captioned


def tournament_answer(
    table: ScoreTable,
    tournament: Tournament,
    fairness: Fairness | None,
    said: str,
    *,
    metric: str,
    scale: float,
) -> str:
    """Ranks, tests and warnings in 80 columns.

    Args:
        table: table of scores that was ranked.
        tournament: tournament held on ``table``.
        fairness: what is equal between the losses of a study; None for a table.
        said: headline of the tournament.
        metric: name of the score.
        scale: factor from the unit of the scores to that which is shown: 100 for percent.
    """
    num_blocks = len(tournament.blocks)
    shown = table.score if scale == 1 else f"{metric}, %"
    title = (
        f"{len(tournament.names)} competitors ranked by {table.score} within "
        f"{counted(num_blocks, 'setting')} ({' x '.join(table.by)})"
    )
    parts = [title, *captioned(rank_tables(tournament, {}, shown, scale))]
    parts += [said, *verdict_sentences(tournament)]
    parts += [f"Warning: {line}" for line in table.warnings]
    parts += difference_notes(fairness) if fairness else []
    return paragraphs(parts)


def say_reading(table: ScoreTable) -> None:
    """Print what a table was taken for to standard error, and why it can hold no tournament."""
    if table.reading is None:
        return
    say(table.reading.line(), err=True)
    if not table.has_complete_block():
        for warning in table.warnings:
            say(warning, err=True)
