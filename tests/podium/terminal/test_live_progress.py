import io
from dataclasses import replace

from rich.console import Console

from orchestrator.scheduling.study_progress import SearchProgress, StudyProgress
from podium.terminal import live_progress

NAME = "glyphs [red]x[/red] [link=file:///etc]y[/link] :smile: \x1b]0;owned\x07\r\u202e"
FAILURE = "data [bold]\x1b[2J\nfailed: forged"
PROGRESS = StudyProgress(
    searches=(
        SearchProgress(
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
    monkeypatch.setattr(live_progress, "_LINE_SECONDS", 0.01)
    monkeypatch.setenv("TERM", "xterm")
    file = io.StringIO()
    console = Console(file=file, width=300, height=40, force_terminal=terminal, no_color=True)
    with show(lambda: PROGRESS, console):
        while "failed: " not in file.getvalue():
            pass
    return file.getvalue()


def test_names_and_failures_are_shown_as_they_are_in_lines(monkeypatch):
    printed = _printed(live_progress._lines, monkeypatch, terminal=False)
    assert r"[red]x[/red] [link=file:///etc]y[/link] :smile: \x1b]0;owned\x07\x0d\u202e" in printed
    assert r"failed: data [bold]\x1b[2J\nfailed: forged" in printed.splitlines()
    assert not set(printed) & {"\x1b", "\x07", "\r", "\u202e"}


def test_names_and_failures_are_shown_as_they_are_in_the_live_view(monkeypatch):
    printed = _printed(live_progress._live, monkeypatch, terminal=True)
    assert r"glyphs [red]x[/red] [link=file:///etc]y[/link] :smile: \x1b]0;owned" in printed
    assert r"failed: data [bold]\x1b[2J\nfailed: forged" in printed
    assert "\x1b]" not in printed
    assert "\x1b[2J" not in printed
    assert not set(printed) & {"\x07", "\u202e"}


def test_what_was_lost_and_repeated_is_reported():
    assert "lost and repeated" not in live_progress.progress_line(PROGRESS)
    lossy = replace(PROGRESS, retries="3 (lost_node 2, stuck 1)")
    assert "lost and repeated: 3 (lost_node 2, stuck 1)" in live_progress.progress_line(lossy)
