"""Runs trials one after the other in this process: for tests, debugging and ``--local``."""

import math
from typing import Self

from podium.orchestrator.executors.job_groups import job_groups
from podium.orchestrator.executors.private_folders import remove_folders_of_dead_runs
from podium.orchestrator.scheduling.executor_interface import NoJob, Scheduler
from podium.orchestrator.study.resource_demand import Capacity
from podium.orchestrator.worker.slot_worker import SlotWorker
from podium.orchestrator.worker.worker import TrialFunction, train


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
        """Run every job to its end, one at a time, or one population."""
        worker = SlotWorker(self._trial)
        groups = job_groups(lambda: scheduler.next_job(self.capacity()))
        while not scheduler.is_stopping:
            jobs = next(groups)
            if isinstance(jobs, NoJob):
                assert jobs is NoJob.FINISHED, "nothing runs, so there is nothing to wait for"
                return
            scheduler.trials_started([job.trial_id for job in jobs])
            worker.start(jobs)
            while worker.trials and not scheduler.is_stopping:
                for trial_id, messages in worker.step().items():
                    if not scheduler.is_stopping and not scheduler.receive(trial_id, messages):
                        worker.drop(trial_id)
            worker.stop()
