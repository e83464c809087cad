"""Attempts: each try at a trial, with where it ran and how it ended."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path

from orchestrator.results.errors import CorruptFileError
from orchestrator.results.files import list_folders, list_names
from orchestrator.results.paths import StudyPaths
from orchestrator.results.sealed import put_sealed, read_sealed

__all__ = ["Attempt", "count_attempts", "read_attempt", "read_attempts", "write_attempt"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try at a trial; the first has number 1.

    ``ended_at`` and ``cause`` are None while it runs, and stay so if its worker was killed. Times
    have a time zone; they are for people, nothing is decided by them.
    """

    trial_id: str
    number: int
    node: str
    pid: int
    device: str
    started_at: datetime
    ended_at: datetime | None
    cause: str | None


_FIELDS = {field.name for field in fields(Attempt)}


def write_attempt(paths: StudyPaths, attempt: Attempt) -> None:
    """Write an attempt: once when it starts, and again, over that, when it ends."""
    values = asdict(attempt)
    ended_at = attempt.ended_at
    values["started_at"] = attempt.started_at.isoformat()
    values["ended_at"] = ended_at.isoformat() if ended_at else None
    put_sealed(paths.attempt(attempt.trial_id, attempt.number), values)


def read_attempt(paths: StudyPaths, trial_id: str, number: int) -> Attempt | None:
    """One attempt; None if it was never written.

    Raises:
        CorruptFileError: the file is truncated or holds no attempt.
    """
    return _read(paths.attempt(trial_id, number))


def count_attempts(paths: StudyPaths, trial_id: str) -> int:
    """How many attempts at a trial were started."""
    return len(list_names(paths.attempt_folder(trial_id), ".json"))


def read_attempts(paths: StudyPaths) -> Iterator[Attempt]:
    """Every attempt of the study, trial by trial, each trial's in order.

    Raises:
        CorruptFileError: a file is truncated or holds no attempt.
    """
    for folder in list_folders(paths.attempts):
        found = (_read(folder / name) for name in list_names(folder, ".json"))
        yield from sorted(filter(None, found), key=lambda attempt: attempt.number)


def _read(path: Path) -> Attempt | None:
    values = read_sealed(path)
    if values is None:
        return None
    if values.keys() != _FIELDS:
        raise CorruptFileError(f"{path} is no attempt: it must hold {', '.join(sorted(_FIELDS))}")
    try:
        ended_at = values["ended_at"]
        times = {
            "started_at": datetime.fromisoformat(values["started_at"]),
            "ended_at": datetime.fromisoformat(ended_at) if ended_at else None,
        }
    except (TypeError, ValueError) as error:
        raise CorruptFileError(f"{path} is no attempt: {error}") from error
    return Attempt(**{**values, **times})
