"""Attempts at trials: where each ran and how it ended."""

from collections.abc import Iterator
from dataclasses import MISSING, asdict, dataclass, fields
from datetime import datetime
from functools import partial
from itertools import groupby
from typing import Any

from orchestrator.results.records.checked_values import (
    amount,
    checked,
    count,
    file_name,
    optional,
    text,
    time,
)
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.checksummed_text import (
    read_checksummed,
    read_checksummed_of_many,
    write_checksummed,
)
from orchestrator.results.storage.files import list_below, list_names
from orchestrator.results.storage.locations import Place
from podium.errors import CorruptFileError

__all__ = [
    "Attempt",
    "read_attempt",
    "read_attempt_file",
    "read_attempts",
    "read_attempts_of_trial",
    "write_attempt",
]


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
    """

    trial_id: str
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


_NEEDED = {field.name for field in fields(Attempt) if field.default is MISSING}
_CHECKS = {
    "trial_id": file_name,
    "number": count,
    "node": text,
    "pid": count,
    "device": text,
    "started_at": time,
    "ended_at": optional(time),
    "cause": optional(text),
    "message": optional(text),
    "reports": optional(count),
    "seconds": optional(amount),
    "cpus": optional(amount),
    "gpus": optional(amount),
    "peak_memory_mb": optional(amount),
    "device_memory_mb": optional(amount),
}


def write_attempt(paths: StudyPaths, attempt: Attempt) -> None:
    """Write an attempt: once when it starts, and again, over that, when it ends."""
    values = asdict(attempt)
    ended_at = attempt.ended_at
    values["started_at"] = attempt.started_at.isoformat()
    values["ended_at"] = ended_at.isoformat() if ended_at else None
    write_checksummed(paths.attempt(attempt.trial_id, attempt.number), values)


def read_attempt(paths: StudyPaths, trial_id: str, number: int) -> Attempt | None:
    """One attempt; None if it was never written.

    Raises:
        CorruptFileError: the file is truncated, or is not the attempt its name says.
    """
    path = paths.attempt(trial_id, number)
    return _attempt(paths, path, read_checksummed(path))


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
    if values is None:
        return None
    if not _NEEDED <= values.keys() <= _CHECKS.keys():
        raise CorruptFileError(f"{path} is no attempt: it must hold {', '.join(sorted(_NEEDED))}")
    try:
        attempt = Attempt(**checked(values, _CHECKS))
    except ValueError as error:
        raise CorruptFileError(f"{path} is no attempt: {error}") from error
    if paths.attempt(attempt.trial_id, attempt.number) != path:
        raise CorruptFileError(
            f"{path} holds attempt {attempt.number} at trial {attempt.trial_id}, which does not"
            " fit its name"
        )
    return attempt
