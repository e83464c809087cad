"""Runs the small study on Ray, to be killed.

python -m tests.orchestrator.drive_small_study DIR
"""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from orchestrator.executors.ray_tune import RayTuneExecutor
from orchestrator.study.resource_demand import most_demand
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.small_study import STUDY, run_here
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
    for report in simulated_trial(settings, resume=resume, save=save):
        time.sleep(0.03)
        yield report


if __name__ == "__main__":
    executor = RayTuneExecutor(most_demand(STUDY), trial=slow_trial)
    run_here(STUDY, Path(sys.argv[1]), executor)
    print("finished")
