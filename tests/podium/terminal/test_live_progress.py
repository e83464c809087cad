import io
import itertools
import threading
from dataclasses import replace
from datetime import datetime

import pytest
from rich.console import Console

from podium.orchestrator.scheduling.study_progress import SearchProgress, StudyProgress
from podium.terminal import live_progress

NAME = "glyphs [red]x[/red] [link=file:///etc]y[/link] :smile: \x1b]0;owned\x07\r\u202e"
FAILURE = "data [bold]\x1b[2J\nfailed: forged"
PROGRESS = StudyProgress(
    searches=(
        SearchProgress(
            id="glyphs.x.y.fixed.0",
            name=NAME,
            planned=2,
            done=1,
            running=1,
            pruned=0,
            failed=0,
            duplicates=0,
            best=0.5,
            finals_done=0,
            finals_planned=1,
        ),
    ),
    trials_done=1,
    trials_planned=3,
    running=1,
    failed=1,
    seconds_left=None,
    score="R@1",
    failures=(FAILURE,),
)


def _printed(show, monkeypatch, *, terminal):
    monkeypatch.setattr(live_progress, "_TICK_SECONDS", 0.01)
    monkeypatch.setenv("TERM", "xterm")
    file = io.StringIO()
    console = Console(file=file, width=300, height=40, force_terminal=terminal, no_color=True)
    with show(lambda: PROGRESS, console):
        while "failed: " not in file.getvalue():
            pass
    return file.getvalue()


def test_failures_are_shown_as_they_are_in_lines(monkeypatch):
    printed = _printed(live_progress._lines, monkeypatch, terminal=False)
    assert r"failed: data [bold]\x1b[2J\nfailed: forged" in printed.splitlines()
    assert not set(printed) & {"\x1b", "\x07", "\r", "\u202e"}


def test_names_and_failures_are_shown_as_they_are_in_the_live_view(monkeypatch):
    printed = _printed(live_progress._live, monkeypatch, terminal=True)
    assert r"glyphs [red]x[/red] [link=file:///etc]y[/link] :smile: \x1b]0;owned" in printed
    assert r"failed: data [bold]\x1b[2J\nfailed: forged" in printed
    assert "\x1b]" not in printed
    assert "\x1b[2J" not in printed
    assert not set(printed) & {"\x07", "\u202e"}


def _lines_of(states, monkeypatch):
    """What is printed, without dates, of progress that is one of these at each tick."""
    monkeypatch.setattr(live_progress, "_TICK_SECONDS", 0.0)
    file, left, is_over = io.StringIO(), iter(states), threading.Event()

    def progress():
        state = next(left, None)
        if state is None:
            is_over.set()
        return state or states[-1]

    console = Console(file=file, width=300, no_color=True)
    with live_progress._lines(progress, console):
        assert is_over.wait(20)
    *dated, last = file.getvalue().splitlines()
    assert not last.startswith("20")
    for line in dated:
        datetime.strptime(line[:19], "%Y-%m-%d %H:%M:%S")
    return [line[21:] for line in dated]


def test_lines_come_at_growing_intervals_up_to_ten_minutes(monkeypatch):
    states = [
        replace(PROGRESS, trials_done=n, trials_planned=900, failures=()) for n in range(300)
    ]
    shown = [int(line.split()[0]) + 1 for line in _lines_of(states, monkeypatch)]
    assert shown[:9] == [1, 3, 6, 11, 19, 31, 49, 76, 117]
    assert max(b - a for a, b in itertools.pairwise(shown)) == 60


def test_a_line_says_the_part_that_is_done_and_when_all_will_be():
    timed = replace(PROGRESS, seconds_left=240.0, part_done=0.374)
    line = live_progress.progress_line(timed)
    assert ", 37 % of the work, done about " in line
    assert line.endswith(" (in 4 min 00 s)")
    finished = replace(timed, trials_done=3, part_done=1.0)
    assert "%" not in live_progress.progress_line(finished)
    at_noon = datetime(2026, 11, 23, 12, 0)
    assert live_progress.finish_time(240, at_noon) == "12:04 (in 4 min 00 s)"
    assert live_progress.finish_time(16 * 3600, at_noon) == "2026-11-24 04:00 (in 16 h 00 min)"


def test_what_was_lost_and_repeated_is_reported():
    assert "lost and repeated" not in live_progress.progress_line(PROGRESS)
    lossy = replace(PROGRESS, retries="3 (lost_node 2, stuck 1)")
    assert "lost and repeated: 3 (lost_node 2, stuck 1)" in live_progress.progress_line(lossy)


def of_many_losses(**changes):
    """46 searches with long names, all of whose counts are three digits long."""
    searches = tuple(
        replace(
            PROGRESS.searches[0],
            name=f"cub200-2011/efficientnet_v2/512 hierarchical_triplet_{index}",
            **{"planned": 500, "done": 250, "running": 100, "finals_planned": 100, **changes},
        )
        for index in range(46)
    )
    return replace(PROGRESS, searches=searches, failures=())


def view(progress, *, width=80, max_rows=20):
    """The lines of the live view on a terminal so wide."""
    console = Console(file=io.StringIO(), width=width, no_color=True)
    for line in live_progress.progress_table(progress, max_rows=max_rows, width=width):
        console.print(line)
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize(
    "changes", [{}, {"pruned": 100, "failed": 100, "duplicates": 100}], ids=["none", "all"]
)
def test_many_losses_with_long_names_have_a_line_each_that_fits(width, changes):
    lines = view(of_many_losses(**changes), width=width)
    assert all(len(line) <= width for line in lines)
    assert lines[0].split()[:2] == ["search", "done"]
    rows = [line for line in lines if "250/500" in line]
    assert len(rows) == 20
    for index, row in enumerate(rows):
        assert row.split(" done")[0].startswith("cub")
        assert f"triplet_{index} " in row or width == 40
        assert row.endswith("50.0")
    rest = " ".join(" ".join(lines[21:]).split())
    assert "+26 more searches" in rest
    assert ("not shown for lack of room: " in rest) == (width < 120)
