"""What a large results folder costs: restart after a kill, status, report.

    python -m benchmarks.large_store --searches 100 --trials 100

Worker slots are simulated as in `benchmarks.driver`; the driver and the results folder are
podium's own. The driver is killed when half of the trials have ended, and continues from there:
``restart`` is until a trial that it handed out reports. Each figure is of a process of its own,
with the start of Python.
"""

import argparse
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.driver import SimulatedCluster, run_on, study_of
from benchmarks.interleaved import print_header
from benchmarks.simulated_time import Costs
from podium.orchestrator.scheduling.executor_interface import Scheduler
from podium.orchestrator.scheduling.study_scheduler import StudyScheduler
from podium.orchestrator.study.study import Study

_SLOTS = 100


class _Killed(SimulatedCluster):
    """Ends this process once so many trials have ended in it."""

    def __init__(self, num_trials: float) -> None:
        super().__init__(_SLOTS, Costs(epoch=30.0))
        self._num_trials, self._num_ended = num_trials, 0

    def run(self, scheduler: Scheduler) -> None:
        assert isinstance(scheduler, StudyScheduler)
        receive = scheduler.receive

        def counted(*given) -> bool:
            if self._num_ended >= self._num_trials:
                os._exit(0)
            continues = receive(*given)
            self._num_ended += not continues
            return continues

        scheduler.receive = counted  # type: ignore[method-assign]
        super().run(scheduler)


def run(study: Study, storage: Path, num_trials: float) -> None:
    run_on(_Killed(num_trials), study, storage)


def timed(label: str, call: Callable[[], object]) -> None:
    """Seconds of a child process on the clock and of processors, and the most memory of any."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    call()
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"| {label} | {seconds:.1f} | {spent:.1f} | {after.ru_maxrss / 1024:,.0f} |", flush=True)


def in_child(study: Study, storage: Path, num_trials: float) -> None:
    child = multiprocessing.get_context("spawn").Process(
        target=run, args=(study, storage, num_trials)
    )
    child.start()
    child.join()
    assert child.exitcode == 0


def podium(*words: object) -> None:
    command = [sys.executable, "-m", "podium", *map(str, words)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--searches", type=int, default=100)
    parser.add_argument("--trials", type=int, default=100)
    options = parser.parse_args()
    num_trials = options.searches * options.trials
    study = study_of(num_trials, 10, "random", trials_of_search=options.trials)
    half = num_trials // 2
    print_header("benchmarks.large_store", "cpu")
    print("| what | seconds | processor seconds | MB at most so far |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        storage = Path(name)
        folder = storage / study.name
        timed(f"{half:,} trials, then killed", lambda: in_child(study, storage, half))
        timed("status", lambda: podium("status", folder))
        timed("restart", lambda: in_child(study, storage, 0))
        timed("the rest of the study", lambda: in_child(study, storage, float("inf")))
        timed("status of the finished study", lambda: podium("status", folder))
        timed("report", lambda: podium("report", folder))


if __name__ == "__main__":
    main()
