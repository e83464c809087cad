"""Says what a typed table was taken for, where it does not mix with what a command prints."""

from analysis.typed_tables.score_table import ScoreTable
from podium.terminal.printing import say


def say_reading(table: ScoreTable) -> None:
    """Print one line to standard error, and the warnings if no tournament can be held."""
    if table.reading is None:
        return
    say(table.reading.line(), err=True)
    if not table.has_complete_block():
        for warning in table.warnings:
            say(warning, err=True)
