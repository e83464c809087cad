"""Runs a study of two protocols that share finals on Ray, to be killed.

python -m tests.orchestrator.drive_crossed_study DIR
"""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from orchestrator.executors.ray_tune import RayTuneExecutor
from orchestrator.study.resource_demand import most_demand
from tests.orchestrator.planted import PlantedTrial, hashed
from tests.orchestrator.shared_finals import SMALL
from tests.orchestrator.small_study import run_here
from trainables.settings.trial_settings import TrialSettings
from trainables.trial_reports import EpochReport, TestReport


def slow_trial(
    settings: TrialSettings,
    *,
    resume: bytes | None,
    save: Callable[[bytes], None],
    keep: object,
) -> Iterator[EpochReport | TestReport]:
    """Leaves a killer time to strike."""
    for report in PlantedTrial(hashed)(settings, resume=resume, save=save):
        time.sleep(0.03)
        yield report


if __name__ == "__main__":
    run_here(SMALL, Path(sys.argv[1]), RayTuneExecutor(most_demand(SMALL), trial=slow_trial))
    print("finished")
