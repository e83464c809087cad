"""Jobs that are run together: trials of one population in one process, others one by one."""

from collections.abc import Callable, Iterator

from podium.orchestrator.scheduling.executor_interface import NoJob
from podium.orchestrator.trials.specification import TrialJob

Group = tuple[TrialJob, ...]


def job_groups(next_job: Callable[[], TrialJob | NoJob]) -> Iterator[Group | NoJob]:
    """The jobs of one worker slot after the other, or why there are none now; without end.

    Of populations all jobs are collected that the scheduler gives, until it gives no more for now.
    """
    while True:
        job = next_job()
        if isinstance(job, NoJob):
            yield job
            continue
        if job.population is None:
            yield (job,)
            continue
        groups: dict[object, list[TrialJob]] = {}
        while not isinstance(job, NoJob):
            key = (job.population, job.demand) if job.population else job.trial_id
            groups.setdefault(key, []).append(job)
            job = next_job()
        for jobs in groups.values():  # which may be those of several slots
            size = jobs[0].demand.num_members
            yield from (tuple(jobs[at : at + size]) for at in range(0, len(jobs), size))
