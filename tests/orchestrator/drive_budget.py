"""Runs the small study slowly in this process, to be killed; its account is written often.

python -m tests.orchestrator.drive_budget DIR
"""

import sys
import time
from pathlib import Path

from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.scheduling import run_accounting
from tests.orchestrator.run.test_budgets import MANY, with_budget
from tests.orchestrator.simulated import simulated_trial


def slow_trial(settings, *, resume, save, keep):
    for report in simulated_trial(settings, resume=resume, save=save):
        time.sleep(0.02)
        yield report


if __name__ == "__main__":
    from tests.orchestrator.small_study import run_here

    run_accounting._WRITE_SECONDS = 0.1
    run_here(with_budget(MANY, gpu_hours=1.0), Path(sys.argv[1]), InProcessExecutor(slow_trial))
