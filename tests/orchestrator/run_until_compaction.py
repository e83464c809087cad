"""Runs the small study in segments of few trials, and kills itself at an operation of compaction.

python -m tests.orchestrator.run_until_compaction STORAGE OPERATION

Operations are files that are opened for writing, renamed or deleted beside segments or the
manifest, and trial files that are deleted. Trials are simulated and take a moment, so that they
are compacted meanwhile.
"""

import os
import signal
import sys
import threading
import time
from pathlib import Path

from orchestrator.executors.in_process import InProcessExecutor
from tests.orchestrator.results.small_segments import make_segments_small
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.small_study import STUDY, run_here


def slow_trial(*arguments, **options):
    for report in simulated_trial(*arguments, **options):
        time.sleep(0.005)
        yield report


def main() -> None:
    storage, last = Path(sys.argv[1]), int(sys.argv[2])
    folder = storage / STUDY.name
    counted, counting = [], threading.Lock()

    def hear(event, arguments):
        if event not in ("open", "os.rename", "os.remove") or not _writes(event, arguments):
            return
        place = str(arguments[0])
        is_compaction = place.startswith(
            (f"{folder}/trials_segments/", f"{folder}/compacted/")
        ) or (
            event == "os.remove" and place.startswith(f"{folder}/trials/") and ".tmp" not in place
        )
        if is_compaction:
            with counting:
                counted.append(place)
                if len(counted) == last:
                    os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hear)
    make_segments_small()
    run_here(STUDY, storage, InProcessExecutor(slow_trial))


def _writes(event, arguments):
    if event != "open":
        return True
    flags = arguments[2]
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))


if __name__ == "__main__":
    main()
