"""Watching a study run: a live table on a terminal, plain lines everywhere else."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from orchestrator.results.storage.printable_text import one_line
from orchestrator.scheduling.study_progress import SearchProgress, StudyProgress

_LINE_SECONDS = 10.0
_NUM_OTHER_LINES = 5  # title, header, rule, total and the cursor's own line


@contextmanager
def watching(progress: Callable[[], StudyProgress]) -> Iterator[None]:
    """Show progress on standard error until the block ends."""
    console = Console(file=sys.stderr)
    show = _live if console.is_terminal else _lines
    with show(progress, console):
        yield


@contextmanager
def _live(progress: Callable[[], StudyProgress], console: Console) -> Iterator[None]:
    def view() -> Group:
        now = progress()
        num_others = _NUM_OTHER_LINES + len(now.failures)
        return progress_table(now, max_rows=console.height - num_others)

    with Live(get_renderable=view, console=console, refresh_per_second=2, transient=True):
        yield
    console.print(_plain(progress_line(progress())))


@contextmanager
def _lines(progress: Callable[[], StudyProgress], console: Console) -> Iterator[None]:
    ended = threading.Event()

    def print_lines() -> None:
        num_printed = 0
        while not ended.wait(_LINE_SECONDS):
            now = progress()
            for failure in now.failures[num_printed:]:
                console.print(_plain(f"failed: {failure}"), soft_wrap=True)
            num_printed = len(now.failures)
            line = f"{datetime.now():%H:%M:%S}  {progress_line(now)}"
            console.print(_plain(line), soft_wrap=True)

    printer = threading.Thread(target=print_lines, name="progress lines", daemon=True)
    printer.start()
    try:
        yield
    finally:
        ended.set()
        printer.join()
        console.print(_plain(progress_line(progress())), soft_wrap=True)


def progress_table(progress: StudyProgress, max_rows: int) -> Group:
    """One row a search; of more than ``max_rows``, those that are running are kept first."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("search", no_wrap=True, overflow="ellipsis", ratio=1)
    for name in ("done", "run", "pruned", "failed", "dupl", f"best {progress.score}", "final"):
        table.add_column(_plain(name), justify="right", no_wrap=True)
    shown = _fitting(progress.searches, max(1, max_rows))
    for search in shown:
        table.add_row(*map(_plain, _cells(search)), style="dim" if _is_finished(search) else "")
    hidden = len(progress.searches) - len(shown)
    note = f"  (+{hidden} more searches)" if hidden else ""
    return Group(
        table,
        _plain(progress_line(progress) + note, style="bold"),
        *(_plain(f"failed: {failure}", style="red") for failure in progress.failures),
    )


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
    best = [search for search in progress.searches if search.best is not None]
    if best:
        top = max(best, key=lambda search: search.best or 0.0)
        parts.append(f"best validation {progress.score} {top.best:.3f} ({top.name})")
    if progress.seconds_left is not None and progress.trials_done < progress.trials_planned:
        parts.append(f"about {duration(progress.seconds_left)} left")
    return ", ".join(parts)


def duration(seconds: float) -> str:
    """Seconds as text: ``45 s`` below 100 s, ``12 min`` below 100 min, else ``3.4 h``."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def _fitting(searches: tuple[SearchProgress, ...], max_rows: int) -> tuple[SearchProgress, ...]:
    """At most ``max_rows`` searches in their order: running ones, then unfinished ones first."""
    if len(searches) <= max_rows:
        return searches
    urgent = sorted(searches, key=lambda search: (not search.running, _is_finished(search)))
    chosen = {search.name for search in urgent[:max_rows]}
    return tuple(search for search in searches if search.name in chosen)


def _is_finished(search: SearchProgress) -> bool:
    return search.done == search.planned and search.finals_done == search.finals_planned


def _cells(search: SearchProgress) -> tuple[str, ...]:
    return (
        search.name,
        f"{search.done}/{search.planned}",
        str(search.running or ""),
        str(search.pruned or ""),
        str(search.failed or ""),
        str(search.duplicates or ""),
        "" if search.best is None else f"{search.best:.3f}",
        f"{search.finals_done}/{search.finals_planned}",
    )
