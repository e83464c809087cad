"""How far a study is, as an answer."""

import textwrap
from dataclasses import asdict

from analysis.wording import counted
from orchestrator.results.storage.locations import Place
from orchestrator.results_tools.study_status import StudyStatus, study_status
from orchestrator.run.study_control import changes_text
from podium.api.answer import Answer
from podium.terminal.fitting_table import fitted_text, terminal_width
from podium.terminal.spending_text import spent_lines

_COLUMNS = ("search", "trials", "planned", "open", "pruned", "failed", "duplicates", "finals")
_WORTH = ("search", "trials", "planned", "failed", "finals", "open", "pruned")
_NUM_KEPT = 4  # up to what failed


def status_answer(folder: Place) -> Answer:
    """How far each search of a study is: see `podium.Results.status`."""
    status, changes = study_status(folder), changes_text(folder)
    total, searches = status.total, counted(len(status.searches), "search", "searches")
    return Answer(
        headline=f"{total['trials']} of {total['planned']} trials of {searches} ended",
        text=_text(status, changes),
        record={
            "searches": list(status.searches),
            "total": total,
            "spent": asdict(status.spent),
            "changes": changes,
        },
        rows=status.searches,
    )


def _text(status: StudyStatus, changes: str) -> str:
    """A table of searches, then totals, what was changed, and what was spent."""
    width = terminal_width()
    rows = [
        {name: row["name"] if name == "search" else row[name] for name in _COLUMNS}
        for row in status.searches
    ]
    table = fitted_text(rows, columns=_COLUMNS, worth=_WORTH, num_kept=_NUM_KEPT)
    total = "  ".join(f"{name} {value}" for name, value in status.total.items())
    changed = [f"control.yaml: {changes}"] if changes else []
    lines = (total, *changed, *spent_lines(status.spent))
    filled = (textwrap.fill(line, width, break_on_hyphens=False) for line in lines)
    return "\n".join((table, "", *filled))
