"""Attempts at trials: where each ran and how it ended."""

from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass

from orchestrator.results.records.json_records import STRICT, Amount, Count, FileName, Time


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Attempt:
    """One attempt at a trial; the first has number 1.

    ``ended_at`` and ``cause`` are None while it runs, and stay so if the process of the run
    was killed with it. Times have a time zone and are informative only.

    Attributes:
        trial_id: id of the trial.
        search: id of its search.
        number: number of the attempt.
        node: name of the machine.
        pid: id of the process.
        device: what it ran on.
        started_at: start of the attempt.
        ended_at: its end.
        cause: how it ended (`orchestrator.trials.failure_causes`).
        message: details of the cause, and of a checkpoint that could not be used.
        reports: epochs and tests that the trial had finished by then, in earlier attempts too.
        seconds: duration by a monotonic clock.
        cpus: CPUs that it occupied.
        gpus: GPUs that it occupied, a fraction where trials share one.
        peak_memory_mb: peak memory of its process in MB, as far as it could be measured.
        device_memory_mb: total memory in MB of the GPU it ran on; known of attempts that ended
            complete or out of memory.
        members: number of trials that began with it as one population, of the last one where
            memory or an error halved it; 1 of a trial alone.
    """

    trial_id: FileName
    search: FileName
    number: Count
    node: str
    pid: Count
    device: str
    started_at: Time
    ended_at: Time | None = None
    cause: str | None = None
    message: str | None = None
    reports: Count | None = None
    seconds: Amount | None = None
    cpus: Amount | None = None
    gpus: Amount | None = None
    peak_memory_mb: Amount | None = None
    device_memory_mb: Amount | None = None
    members: Annotated[int, Field(ge=1)] = 1
