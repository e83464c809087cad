"""How far a study is, as an answer."""

import textwrap
from dataclasses import dataclass
from typing import Any

import polars as pl

from analysis.wording import counted
from orchestrator.results_tools.study_status import StudyStatus
from podium.api.answer import Answer, frame_of
from podium.terminal.fitting_table import fitted_text, terminal_width
from podium.terminal.spending_text import spent_lines, spent_record

_COLUMNS = ("search", "trials", "planned", "open", "pruned", "failed", "duplicates", "finals")
_WORTH = ("search", "trials", "planned", "failed", "finals", "open", "pruned")
_NUM_KEPT = 4  # up to what failed


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class StatusAnswer(Answer):
    """How far each search is.

    Attributes:
        status: counts of trials, and what they cost.
        changes: what ``control.yaml`` changes while the study runs; empty for nothing.
    """

    status: StudyStatus
    changes: str

    @property
    def headline(self) -> str:
        """How many search trials ended, of how many."""
        total, searches = (
            self.status.total,
            counted(len(self.status.searches), "search", "searches"),
        )
        return f"{total['trials']} of {total['planned']} trials of {searches} ended"

    @property
    def frame(self) -> pl.DataFrame:
        """One row per search."""
        return frame_of(self.status.searches)

    def to_dict(self) -> dict[str, Any]:
        """Searches, totals, what was spent and what is changed."""
        return {
            "searches": list(self.status.searches),
            "total": self.status.total,
            "spent": spent_record(self.status.spent),
            "changes": self.changes,
        }

    def __str__(self) -> str:
        width = terminal_width()
        rows = [
            {name: row["name"] if name == "search" else row[name] for name in _COLUMNS}
            for row in self.status.searches
        ]
        table = fitted_text(rows, columns=_COLUMNS, worth=_WORTH, num_kept=_NUM_KEPT)
        total = "  ".join(f"{name} {value}" for name, value in self.status.total.items())
        changes = [f"control.yaml: {self.changes}"] if self.changes else []
        spent = spent_lines(self.status.spent)
        lines = (total, *changes, *spent)
        filled = (textwrap.fill(line, width, break_on_hyphens=False) for line in lines)
        return "\n".join((table, "", *filled))
