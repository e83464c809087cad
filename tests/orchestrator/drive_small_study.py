"""Runs a small study on a Ray of its own, in a process that a test starts and kills.

python -m tests.orchestrator.drive_small_study DIR
"""

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from podium.orchestrator.executors.ray_tune import RayTuneExecutor
from podium.orchestrator.study.resource_demand import demand_of
from podium.orchestrator.study.study import FinalSettings
from tests.orchestrator.ray_cluster import ROOT
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.small_study import run_here, with_search

# Trials enough to be killed among them: each takes far longer than in this process alone.
SMALLER = replace(with_search(trials=3), final=FinalSettings(seeds=1))


def drive(storage: Path) -> subprocess.Popen:
    """Start the process; one that ends the study prints so."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.orchestrator.drive_small_study", str(storage)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def wait_for_commits(storage: Path, count: int, driver: subprocess.Popen) -> None:
    deadline = time.monotonic() + 120
    while len(list(storage.glob("*/trials/*/*.parquet"))) < count:
        assert driver.poll() is None, driver.stdout.read()
        assert time.monotonic() < deadline, "no progress"
        time.sleep(0.02)


def slow_trial(settings, *, resume, save, keep):
    """Leaves a killer time to strike."""
    for report in simulated_trial(settings, resume=resume, save=save):
        time.sleep(0.03)
        yield report


if __name__ == "__main__":
    executor = RayTuneExecutor(demand_of(SMALLER), trial=slow_trial)
    run_here(SMALLER, Path(sys.argv[1]), executor)
    print("finished")
