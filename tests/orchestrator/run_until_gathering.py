"""Runs the small study with simulated trials, and kills itself while it gathers their rows.

python -m tests.orchestrator.run_until_gathering STORAGE OPERATION

Operations are gathered files that are opened for writing, linked or deleted, and single rows, asks
and attempts that are deleted.
"""

import os
import signal
import sys
from pathlib import Path

from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.scheduling import study_scheduler
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.small_study import STUDY, run_here


def main() -> None:
    storage, last = Path(sys.argv[1]), int(sys.argv[2])
    folder, count = storage / STUDY.name, 0

    def hear(event, arguments):
        nonlocal count
        if event not in ("open", "os.link", "os.remove") or not _writes(event, arguments):
            return
        place = str(arguments[0])
        is_deleted = event == "os.remove" and ".tmp" not in place and "/checkpoints/" not in place
        if place.startswith(f"{folder}/") and (is_deleted or ".gathered." in place):
            count += 1
            if count == last:
                os.kill(os.getpid(), signal.SIGKILL)

    study_scheduler._LEAST_GATHERED = 2
    sys.addaudithook(hear)
    run_here(STUDY, storage, InProcessExecutor(simulated_trial))


def _writes(event, arguments):
    if event != "open":
        return True
    flags = arguments[2]
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))


if __name__ == "__main__":
    main()
