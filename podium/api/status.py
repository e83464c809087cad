"""How far a study is, as an answer."""

from collections.abc import Iterator
from dataclasses import asdict

from podium.analysis.wording import counted, duration
from podium.api.answer import Answer
from podium.live.followed_study import FollowedStudy, StudyView
from podium.orchestrator.results.storage.locations import Place
from podium.terminal.fitting_table import terminal_width
from podium.terminal.live_progress import progress_line, search_table
from podium.terminal.printing import filled


def status_answer(folder: Place) -> Answer:
    """How far each search of a study is: see `podium.Results.status`."""
    view = FollowedStudy(folder).view()
    place = f" on {view.running_on}" if view.running_on else ""
    headline = f"{view.state}{place}: {progress_line(view.progress)}"
    return Answer(
        headline=headline,
        text=_text(headline, view),
        record=asdict(view),
        rows=[asdict(search) for search in view.progress.searches],
    )


def _text(headline: str, view: StudyView) -> str:
    """How far the study is, a table of searches, what was changed, and what was spent."""
    width, searches = terminal_width(), view.progress.searches
    table, notes = search_table(view.progress, max_rows=len(searches), width=width)
    lines = [
        *(f"{note[0].upper()}{note[1:]}." for note in notes),
        *(f"failed: {failure}" for failure in view.progress.failures),
        *([f"control.yaml: {view.changes}"] if view.changes else ()),
        *_spent_lines(view),
    ]
    parts = [filled(headline, width), "", *(line.plain for line in table)]
    return "\n".join((*parts, "", *(filled(line, width) for line in lines)))


def _time(hours: float) -> str:
    return duration(3600 * hours)


def _spent_lines(view: StudyView) -> Iterator[str]:
    """Totals by use, and searches that ended early."""
    has_gpus = any(of["gpu_hours"] for of in view.spent.values())
    amount, unit = ("gpu_hours", "GPUs") if has_gpus else ("trial_hours", "training")
    if view.num_runs:
        total = sum(of[amount] for of in view.spent.values())
        parts = [f"{use} {_time(of[amount])}" for use, of in view.spent.items() if of["tries"]]
        by_use = f": {', '.join(parts)}" if parts else ""
        runs = counted(view.num_runs, "run", "runs")
        spent = f"spent {_time(total)} of {unit}, starts of trials included"
        yield f"{spent}, in {runs} of {_time(view.wall_hours)}{by_use}"
    for search in view.progress.searches:
        if search.is_cut_short:
            yield f"{search.name}: budget used up after {search.done} trials"
        if search.is_cancelled:
            yield f"{search.name}: cancelled by the user after {search.done} trials"
