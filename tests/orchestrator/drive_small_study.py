"""Runs a small study on a Ray of its own, in a process that a test starts and kills.

python -m tests.orchestrator.drive_small_study small|crossed DIR
"""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from orchestrator.executors.ray_tune import RayTuneExecutor
from orchestrator.study.resource_demand import most_demand
from orchestrator.study.study import FinalSettings
from orchestrator.worker.worker import TrialFunction
from tests.orchestrator.planted import PlantedTrial, hashed
from tests.orchestrator.ray_cluster import ROOT
from tests.orchestrator.shared_finals import SMALL
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.small_study import run_here, with_search
from trainables.settings.trial_settings import TrialSettings
from trainables.trial_reports import EpochReport, TestReport

# Trials enough to be killed among them: each takes far longer than in this process alone.
SMALLER = replace(with_search(trials=3), final=FinalSettings(seeds=1))
# The crossed one is of two protocols that share finals.
STUDIES = {"small": (SMALLER, simulated_trial), "crossed": (SMALL, PlantedTrial(hashed))}


def drive(storage: Path, study: str = "small") -> subprocess.Popen:
    """Start the process; one that ends the study prints so."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.orchestrator.drive_small_study", study, str(storage)],
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


class SlowTrial:
    """Leaves a killer time to strike."""

    def __init__(self, trial: TrialFunction) -> None:
        self._trial = trial

    def __call__(
        self,
        settings: TrialSettings,
        *,
        resume: bytes | None,
        save: Callable[[bytes], None],
        keep: object,
    ) -> Iterator[EpochReport | TestReport]:
        for report in self._trial(settings, resume=resume, save=save, keep=None):
            time.sleep(0.03)
            yield report


if __name__ == "__main__":
    study, trial = STUDIES[sys.argv[1]]
    executor = RayTuneExecutor(most_demand(study), trial=SlowTrial(trial))
    run_here(study, Path(sys.argv[2]), executor)
    print("finished")
