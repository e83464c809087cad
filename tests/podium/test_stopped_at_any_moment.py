"""Signals at moments that nothing chooses, imports and the end too: one line, no traceback."""

import os
import random
import signal
import subprocess
import sys
import time
from itertools import product

import pytest

from tests.orchestrator.ray_cluster import ROOT
from tests.orchestrator.study_files import MINIMAL

# The interpreter's own start is over, and podium has done the first thing that it does.
STARTED = """
import sys
from podium.__main__ import main
from podium.stop_signals import end_at_once_before_commands
sys.argv[0] = "podium"
end_at_once_before_commands()
print("started", flush=True)
main()
"""
SIGNALS = (signal.SIGINT, signal.SIGTERM)
COMMANDS = ("run", "plan", "report", "status")


@pytest.fixture
def words(tmp_path, finished_study):
    """Command -> its words."""
    file = tmp_path / "x.yaml"
    file.write_text(MINIMAL + "search: {trials: 2}\ntraining: {epochs: 2}\n")
    return {
        "run": ("run", file, "--storage", tmp_path / "storage", "--local", "--no-report"),
        "ray": ("run", file, "--storage", tmp_path / "storage", "--no-report"),
        "plan": ("plan", file),
        "report": ("report", finished_study, "--output", tmp_path / "report.html"),
        "status": ("status", finished_study),
    }


def stopped(words, number, seconds, *, repeated=False, group=False):
    """The ended process of a command that gets a signal so many seconds after its start."""
    process = subprocess.Popen(
        [sys.executable, "-c", STARTED, *map(str, words)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout.readline() == "started\n"
    time.sleep(seconds)
    send = os.killpg if group else os.kill
    send(process.pid, number)
    while repeated and process.poll() is None:
        send(process.pid, number)
        time.sleep(0.05)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def assert_one_word_was_said(ended):
    code, out, err = ended
    lines = err.strip().splitlines()
    for trace in ("Traceback", "Exception ignored", "KeyboardInterrupt", "***"):
        assert trace not in err, err
    if code == 0:  # the signal came when all was done
        assert out or lines
    else:
        assert code == 3, ended
        assert [line.startswith("Stopped") for line in lines].count(True) == 1, err
        assert lines[-1].startswith("Stopped")


@pytest.mark.parametrize(
    ("command", "number", "seconds"),
    [("run", signal.SIGINT, 1.4), ("report", signal.SIGTERM, 0.5), ("status", signal.SIGINT, 0.0)],
)
def test_a_signal_at_any_moment_ends_a_command_with_one_line(words, command, number, seconds):
    """At some; the soak tries many."""
    assert_one_word_was_said(stopped(words[command], number, seconds))


def test_a_signal_that_is_repeated_without_end_changes_nothing_of_that(words):
    assert_one_word_was_said(stopped(words["run"], signal.SIGTERM, 0.8, repeated=True))


@pytest.mark.ray
def test_a_signal_while_ray_starts_ends_the_run_with_one_line(words):
    """Of the group: what a terminal or a batch system sends reaches the parts of Ray too."""
    assert_ray_ends_well(words, 4.0, signal.SIGINT, group=True)


def assert_ray_ends_well(words, seconds, number, group):
    code, _, err = stopped(words["ray"], number, seconds, group=group)
    assert code in (0, 3), err
    assert "Traceback" not in err
    assert "***" not in err
    if code == 3:
        assert err.strip().splitlines()[-1].startswith("Stopped")


@pytest.mark.soak
@pytest.mark.ray
def test_many_signals_while_ray_starts_each_end_the_run_with_one_line(words):
    for number, group in product(SIGNALS * 3, (False, True)):
        assert_ray_ends_well(words, random.uniform(0.5, 6.0), number, group)


@pytest.mark.soak
def test_many_signals_at_random_moments_each_end_a_command_with_one_line(words):
    draw = random.Random(0)
    for _ in range(25):
        for command in COMMANDS:
            number, seconds = draw.choice(SIGNALS), draw.uniform(0, 3)
            group, repeated = draw.random() < 0.5, draw.random() < 0.3
            ended = stopped(words[command], number, seconds, group=group, repeated=repeated)
            assert_one_word_was_said(ended)


HANDLED = """
import os, signal
from podium.stop_signals import Stopped, StopSignals

class Ends:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)

with StopSignals():
    Ends()
    print("went on")
"""


def test_a_signal_within_a_finaliser_is_not_lost():
    """Python lets no exception out of one."""
    done = subprocess.run(
        [sys.executable, "-c", HANDLED], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 3
    assert done.stderr == "Stopped. The same command goes on; a run continues where it stopped.\n"
    assert done.stdout == ""
