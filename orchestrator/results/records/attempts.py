"""Attempts at trials: where each ran and how it ended."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import groupby
from typing import Any

from orchestrator.results.records.json_records import FileName, RecordKind
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.checksummed_text import (
    read_checksummed,
    read_checksummed_of_many,
)
from orchestrator.results.storage.files import list_below, list_names
from orchestrator.results.storage.locations import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt at a trial; the first has number 1.

    ``ended_at`` and ``cause`` are None while it runs, and stay so if the process of the run
    was killed with it. Times have a time zone and are informative only. What files of earlier
    versions do not hold is None.

    Attributes:
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
    number: int
    node: str
    pid: int
    device: str
    started_at: datetime
    ended_at: datetime | None
    cause: str | None
    message: str | None = None
    reports: int | None = None
    seconds: float | None = None
    cpus: float | None = None
    gpus: float | None = None
    peak_memory_mb: float | None = None
    device_memory_mb: float | None = None
    members: int | None = None


_KIND = RecordKind(
    make=Attempt,
    name="attempt",
    plural="attempts",
    title="attempt {0.number} at trial {0.trial_id}",
    place=lambda paths, it: paths.attempt(it.trial_id, it.number),
    may_lack_defaults=True,
)


def write_attempt(paths: StudyPaths, attempt: Attempt) -> None:
    """Write an attempt: once when it starts, and again, over that, when it ends."""
    _KIND.write(paths, attempt)


def read_attempt(paths: StudyPaths, trial_id: str, number: int) -> Attempt | None:
    """One attempt; None if it was never written.

    Raises:
        CorruptFileError: the file is truncated, or is not the attempt its name says.
    """
    return read_attempt_file(paths, paths.attempt(trial_id, number))


def read_attempt_file(paths: StudyPaths, path: Place) -> Attempt | None:
    """The attempt in a file of `StudyPaths.attempts`; None if the file vanished.

    Raises:
        CorruptFileError: the file is truncated, or is not the attempt its name says.
    """
    return _attempt(paths, path, read_checksummed(path))


def read_attempts_of_trial(paths: StudyPaths, trial_id: str) -> tuple[Attempt, ...]:
    """Every attempt at one trial, in order.

    Raises:
        CorruptFileError: a file is truncated, or is not the attempt its name says.
    """
    count = len(list_names(paths.attempt_folder(trial_id), ".json"))
    found = (read_attempt(paths, trial_id, number) for number in range(1, count + 1))
    return tuple(filter(None, found))


def read_attempts(paths: StudyPaths) -> Iterator[Attempt]:
    """Every attempt of the study, trial by trial, each trial's in order.

    Raises:
        CorruptFileError: a file is truncated, or is not the attempt its name says.
    """
    files = list_below(paths.attempts, ".json")
    values = read_checksummed_of_many(files)
    found = filter(None, map(partial(_attempt, paths), files, values))
    for _, attempts in groupby(found, key=lambda attempt: attempt.trial_id):
        yield from sorted(attempts, key=lambda attempt: attempt.number)


def _attempt(paths: StudyPaths, path: Place, values: dict[str, Any] | None) -> Attempt | None:
    return None if values is None else _KIND.parsed(paths, path, values)
