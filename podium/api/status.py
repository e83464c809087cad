"""How far a study is, as an answer."""

from collections.abc import Iterator
from dataclasses import asdict

from podium.analysis.wording import counted
from podium.api.answer import Answer
from podium.orchestrator.results.storage.locations import Place
from podium.orchestrator.results_tools.study_status import SpentStatus, StudyStatus, study_status
from podium.orchestrator.run.study_control import changes_text
from podium.terminal.fitting_table import fitted_text, terminal_width
from podium.terminal.printing import filled

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
    lines = (total, *changed, *_spent_lines(status.spent))
    return "\n".join((table, "", *(filled(line, width) for line in lines)))


def _spent_lines(spent: SpentStatus) -> Iterator[str]:
    """Totals by use, what is left of the budget, and searches that ended early."""
    if spent.trial_hours or spent.num_runs:
        amount, unit = _unit(spent)
        plural = "s" if spent.num_runs != 1 else ""
        text = (
            f"spent {sum(of[amount] for of in spent.uses.values()):.3g} {unit}"
            f" in {spent.num_runs} run{plural} of {spent.wall_hours:.3g} hours"
        )
        parts = [f"{use} {of[amount]:.3g}" for use, of in spent.uses.items() if of["tries"]]
        yield f"{text}: {', '.join(parts)}" if parts else text
    if spent.budget:
        yield f"budget: {', '.join(map(str, spent.budget))}"
    for search, trials in spent.cut_short.items():
        yield f"{search}: budget used up after {trials} of {spent.trials_per_search} trials"
    for search, trials in spent.cancelled.items():
        yield f"{search}: cancelled by the user after {trials} of {spent.trials_per_search} trials"


def _unit(spent: SpentStatus) -> tuple[str, str]:
    if spent.gpu_hours:
        return "gpu_hours", "GPU-hours"
    return "trial_hours", "hours of trials"
