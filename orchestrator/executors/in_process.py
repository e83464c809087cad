"""Runs trials one after the other in this process: for tests, debugging and ``--local``."""

import math
from typing import Self

from orchestrator.executors.private_folders import remove_folders_of_dead_runs
from orchestrator.scheduling.executor_interface import NoJob, Scheduler
from orchestrator.study.resource_demand import Capacity
from orchestrator.worker.worker import TrialFunction, TrialWorker, train


class InProcessExecutor:
    """One slot, no Ray."""

    def __init__(self, trial: TrialFunction = train) -> None:
        self._trial = trial

    def __enter__(self) -> Self:
        """Nothing has to be started; what killed runs left is deleted, as with Ray."""
        remove_folders_of_dead_runs()
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing has to be ended."""

    def capacity(self) -> Capacity:
        """One trial at a time, whatever it asks for."""
        return Capacity(cpus=math.inf, gpus=math.inf, max_trials=1)

    def run(self, scheduler: Scheduler) -> None:
        """Run every job to its end, one at a time."""
        worker = TrialWorker(self._trial)
        while not scheduler.is_stopping:
            job = scheduler.next_job(self.capacity())
            if isinstance(job, NoJob):
                assert job is NoJob.FINISHED, "nothing is running, so there is nothing to wait for"
                return
            scheduler.trial_started(job.trial_id)
            worker.start(job)
            while not scheduler.is_stopping and scheduler.receive(job.trial_id, worker.step()):
                pass
            worker.stop()
