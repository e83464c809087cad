"""What a search's journal holds: its asks, attempts at its trials, and withdrawn failures.

An ask is written before its trial starts: it is the lease on a trial, and what a search is rebuilt
from after a restart. A failure is withdrawn so that its trial is run again from scratch; it is
written before its row is deleted, so that it is never forgotten, and a run that finds the row of
such a record still there deletes it. Attempts at the trial stay as they are.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, NonNegativeFloat
from pydantic.dataclasses import dataclass

from podium.orchestrator.results.records.json_records import STRICT, Count, FileName

AskSource = Literal["default", "given", "sampler"]


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Ask:
    """The index-th suggestion of a search.

    Attributes:
        index: number of the suggestion within its search, from 0.
        trial_id: trial that the suggestion became.
        hyperparameters: plain bool, int, float and str; each comes back with the type it had.
        source: ``default`` for the published default, ``given`` for a config of the study's, and
            ``sampler`` for what a sampler drew.
    """

    search: FileName
    index: Count
    trial_id: FileName
    config_hash: str
    hyperparameters: Mapping[str, bool | int | float | str]
    source: AskSource


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Attempt:
    """One attempt at a trial; the first has number 1.

    ``ended_at`` and ``cause`` are None while it runs, and stay so if the process of the run
    was killed with it. Times have a time zone and are informative only.

    Attributes:
        device: what it ran on.
        cause: how it ended (`orchestrator.trials.failure_causes`).
        message: details of the cause, and of a checkpoint that could not be used.
        reports: epochs and tests that the trial had finished by then, in earlier attempts too.
        seconds: duration by a monotonic clock.
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
    started_at: AwareDatetime
    ended_at: AwareDatetime | None = None
    cause: str | None = None
    message: str | None = None
    reports: Count | None = None
    seconds: NonNegativeFloat | None = None
    cpus: NonNegativeFloat | None = None
    gpus: NonNegativeFloat | None = None
    peak_memory_mb: NonNegativeFloat | None = None
    device_memory_mb: NonNegativeFloat | None = None
    members: Annotated[int, Field(ge=1)] = 1


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class RetriedFailure:
    """A failure of a trial that was run again.

    Attributes:
        number: counts the failures of the trial that were withdrawn, from 1.
        stage: ``search``, ``final`` or ``baseline``.
        cause: why it failed (`orchestrator.trials.failure_causes`).
        message: one line on the failure.
        traceback: traceback of the failure, with secrets removed.
        log: tail of what the trial printed.
        ended_at: end of the trial, by which its row is recognised.
        attempts: number of its last attempt by then; only later ones count from then on.
    """

    trial_id: FileName
    number: Count
    search: FileName
    stage: str
    cause: str
    message: str | None = None
    traceback: str | None = None
    log: str | None = None
    ended_at: AwareDatetime | None = None
    attempts: Count
