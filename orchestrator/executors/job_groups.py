"""Jobs that are run together: trials of one population in one process, others one by one."""

from collections.abc import Callable

from podium.orchestrator.scheduling.executor_interface import NoJob
from podium.orchestrator.trials.specification import TrialJob

Group = tuple[TrialJob, ...]


class JobGroups:
    """Collects the jobs that the scheduler gives, until it gives no more for now."""

    def __init__(self, next_job: Callable[[], TrialJob | NoJob]) -> None:
        self._next_job = next_job
        self._waiting: list[Group] = []

    def next(self) -> Group | NoJob:
        """The jobs of one worker slot, or why there are none."""
        if self._waiting:
            return self._waiting.pop(0)
        job = self._next_job()
        if isinstance(job, NoJob):
            return job
        if job.population is None:
            return (job,)
        groups: dict[object, list[TrialJob]] = {}
        while not isinstance(job, NoJob):
            key = (job.population, job.demand) if job.population else job.trial_id
            groups.setdefault(key, []).append(job)
            job = self._next_job()
        # The jobs may be those of several slots.
        self._waiting = [
            tuple(jobs[first : first + size])
            for jobs in groups.values()
            for size in (jobs[0].demand.num_members,)
            for first in range(0, len(jobs), size)
        ]
        return self._waiting.pop(0)
