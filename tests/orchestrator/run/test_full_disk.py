"""A disk that is full, read-only or taken away, at many moments of a real run."""

import functools
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@functools.cache
def own_mounts():
    """How to get a mount namespace here; None without the rights to mount in one."""
    for options in ("-m", "-rm"):
        tried = subprocess.run(
            ["unshare", options, "mount", "-t", "tmpfs", "tmpfs", "/mnt"],
            capture_output=True,
            check=False,
        )
        if tried.returncode == 0:
            return options
    return None


@pytest.mark.skipif(
    sys.platform != "linux" or own_mounts() is None, reason="needs the right to mount a tmpfs"
)
def test_a_disk_that_fails_at_any_moment_stops_the_run_and_costs_nothing(tmp_path):
    """In each run: exit code 4, nothing half-written, and in the end the undisturbed tables."""
    done = subprocess.run(
        [
            *("unshare", own_mounts(), sys.executable),
            *("-m", "tests.orchestrator.drive_full_disk", str(tmp_path)),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["wrong"] == []
    assert {moment.split()[0] for moment in told["moments"]} == {"4"}
    assert {"4 trials", "4 checkpoints", "4 folder"} <= told["moments"].keys()
    assert sum(told["moments"].values()) == 7
