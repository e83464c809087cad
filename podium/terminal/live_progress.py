"""Watching a study run: a live table on a terminal, else lines now and then."""

import itertools
import math
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from html import escape

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from podium.analysis.wording import duration, shown_names
from podium.orchestrator.results.storage.printable_text import one_line
from podium.orchestrator.scheduling.study_progress import SearchProgress, StudyProgress
from podium.terminal.fitting_table import fitting_table
from podium.terminal.printing import Row

_TICK_SECONDS = 10.0
_BAR_SECONDS = 1.0
_MOST_TICKS = 60  # ten minutes
_NUM_OTHER_LINES = 5  # header, total of up to three lines and the cursor's own line
_OFTEN_ZERO = ("pruned", "failed", "dupl")
_WORTH = ("failed", "final", "run", "pruned", "dupl")  # after the search, how far, and how good


@contextmanager
def watching(progress: Callable[[], StudyProgress]) -> Iterator[None]:
    """Show progress on standard error, or in a notebook's cell, until the block ends."""
    console = Console(file=sys.stderr)
    show = _live if console.is_terminal else _bar if console.is_jupyter else _lines
    with show(progress, console):
        yield


@contextmanager
def _live(progress: Callable[[], StudyProgress], console: Console) -> Iterator[None]:
    def view() -> Group:
        now = progress()
        num_others = _NUM_OTHER_LINES + len(now.failures)
        max_rows = console.height - num_others
        return Group(*progress_table(now, max_rows=max_rows, width=console.width))

    with Live(get_renderable=view, console=console, refresh_per_second=2, transient=True):
        yield
    console.print(_plain(progress_line(progress())))


@contextmanager
def _bar(progress: Callable[[], StudyProgress], _: Console) -> Iterator[None]:
    from IPython.display import HTML, display

    def view() -> HTML:
        now = progress()
        lines = [progress_line(now), *(f"failed: {failure}" for failure in now.failures)]
        text = "<br>".join(escape(one_line(line)) for line in lines)
        bar = f"<progress max={now.trials_planned} value={now.trials_done}></progress>"
        return HTML(f"{bar} {text}")  # type: ignore[no-untyped-call]

    shown = display(view(), display_id=True)  # type: ignore[no-untyped-call]
    try:
        with _repeating(lambda: shown.update(view()), _BAR_SECONDS):
            yield
    finally:
        shown.update(view())


@contextmanager
def _lines(progress: Callable[[], StudyProgress], console: Console) -> Iterator[None]:
    ticks = _printed_lines(progress, console)
    try:
        with _repeating(lambda: next(ticks), _TICK_SECONDS):
            yield
    finally:
        console.print(_plain(progress_line(progress())), soft_wrap=True)


def _printed_lines(progress: Callable[[], StudyProgress], console: Console) -> Iterator[None]:
    """Each step prints new failures, and from time to time a line."""
    num_printed, last, due, gap = 0, None, 1, 1
    for tick in itertools.count(1):
        now = progress()
        for failure in now.failures[num_printed:]:
            console.print(_plain(f"failed: {failure}"), soft_wrap=True)
        num_printed = len(now.failures)
        lasting = replace(
            now, seconds_left=None, part_done=None, budget=()
        )  # what time alone does not change
        if tick >= due and lasting != last:
            line = f"{datetime.now():%Y-%m-%d %H:%M:%S}  {progress_line(now)}"
            console.print(_plain(line), soft_wrap=True)
            last, gap = lasting, min(math.ceil(gap * 1.5), _MOST_TICKS)
            due = tick + gap
        yield


@contextmanager
def _repeating(action: Callable[[], object], seconds: float) -> Iterator[None]:
    """Call it every so many seconds until the block ends."""
    ended = threading.Event()

    def repeat() -> None:
        while not ended.wait(seconds):
            action()

    thread = threading.Thread(target=repeat, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def progress_table(progress: StudyProgress, *, max_rows: int, width: int) -> list[Text]:
    """`search_table`, then the whole study and why trials failed."""
    lines, notes = search_table(progress, max_rows=max_rows, width=width)
    note = f" ({'; '.join(notes)})" if notes else ""
    return [
        *lines,
        _plain(progress_line(progress) + note, style="bold"),
        *(_plain(f"failed: {failure}", style="red") for failure in progress.failures),
    ]


def search_table(
    progress: StudyProgress, *, max_rows: int, width: int
) -> tuple[list[Text], list[str]]:
    """A header and one line a search, and what is not shown.

    Of more than ``max_rows`` searches those that are running are kept first. Counts that are zero
    for all of them have no column, nor has what does not fit into ``width``.
    """
    shown = _fitting(progress.searches, max(1, max_rows))
    names = shown_names(search.name for search in progress.searches)
    rows = {search.name: _row(search, names, progress.score) for search in progress.searches}
    zero = {name for name in _OFTEN_ZERO if not any(row[name] for row in rows.values())}
    columns = [name for name in rows[shown[0].name] if name not in zero]
    (header, *lines), left_out = fitting_table(
        [rows[search.name] for search in shown],
        columns=columns,
        worth=("search", "done", columns[-1], *(name for name in _WORTH if name in columns)),
        width=width,
        num_kept=3,
        right=columns[1:],
    )
    hidden = len(progress.searches) - len(shown)
    notes = [f"+{hidden} more searches"] if hidden else []
    notes += [f"not shown for lack of room: {', '.join(left_out)}"] if left_out else []
    styled = (
        _plain(line, style="dim" if _is_finished(search) else "")
        for line, search in zip(lines, shown, strict=True)
    )
    return [_plain(header, style="bold"), *styled], notes


def _plain(text: str, style: str = "") -> Text:
    """Text of which nothing is markup: names of losses and messages may hold brackets."""
    return Text(one_line(text), style=style)


def progress_line(progress: StudyProgress) -> str:
    """The whole study in one line."""
    parts = [f"{progress.trials_done} of {progress.trials_planned} trials done"]
    if progress.running:
        parts.append(f"{progress.running} running")
    pruned = sum(search.pruned for search in progress.searches)
    if pruned:
        parts.append(f"{pruned} pruned")
    if progress.failed:
        parts.append(f"{progress.failed} failed")
    if progress.retries:
        parts.append(f"lost and repeated: {progress.retries}")
    parts += map(str, progress.budget)
    if progress.trials_done < progress.trials_planned:
        if progress.part_done is not None:
            parts.append(f"{100 * min(0.99, progress.part_done):.0f} % of the work")
        if progress.seconds_left is not None:
            parts.append(f"done about {finish_time(progress.seconds_left, datetime.now())}")
    return ", ".join(parts)


def finish_time(seconds_left: float, now: datetime) -> str:
    """``14:05 (in 4 min 20 s)`` of the local clock; with the date where that is another day."""
    end = now + timedelta(seconds=seconds_left)
    day = "" if end.date() == now.date() else f"{end:%Y-%m-%d} "
    return f"{day}{end:%H:%M} (in {duration(seconds_left)})"


def _fitting(searches: tuple[SearchProgress, ...], max_rows: int) -> tuple[SearchProgress, ...]:
    """At most ``max_rows`` searches in their order: running ones, then unfinished ones first."""
    if len(searches) <= max_rows:
        return searches
    urgent = sorted(searches, key=lambda search: (not search.running, _is_finished(search)))
    chosen = {search.name for search in urgent[:max_rows]}
    return tuple(search for search in searches if search.name in chosen)


def _is_finished(search: SearchProgress) -> bool:
    return search.done == search.planned and search.finals_done == search.finals_planned


def _row(search: SearchProgress, names: Mapping[str, str], score: str) -> Row:
    return {
        "search": names.get(search.name, search.name),
        "done": f"{search.done}/{search.planned}",
        "run": str(search.running or ""),
        "pruned": str(search.pruned or ""),
        "failed": str(search.failed or ""),
        "dupl": str(search.duplicates or ""),
        "final": f"{search.finals_done}/{search.finals_planned}",
        f"best val {score}, %": "" if search.best is None else f"{100 * search.best:.1f}",
    }
