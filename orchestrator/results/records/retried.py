"""Failures that were withdrawn, so that their trials are run again from scratch.

One JSON file a failure, written before its row is deleted. It holds what the row said, so that a
failure is never forgotten, and it makes the withdrawal complete: a run that finds the row of a
record still there deletes it. Attempts at the trial stay as they are.
"""

from pydantic.dataclasses import dataclass

from orchestrator.results.records.json_records import STRICT, Count, FileName, RecordKind, Time
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import list_below, list_names
from orchestrator.results.storage.locations import Place


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class RetriedFailure:
    """A failure of a trial that was run again.

    Attributes:
        trial_id: id of the trial.
        number: counts the failures of the trial that were withdrawn, from 1.
        search: id of its search.
        stage: ``search``, ``final`` or ``baseline``.
        cause: why it failed (`orchestrator.trials.failure_causes`).
        message: one line on the failure.
        traceback: traceback of the failure, with secrets removed.
        log: tail of what the trial printed.
        ended_at: end of the trial, by which its row is recognised.
        attempts: number of its last attempt by then; only later ones count from then on.
        asks: number of suggestions that its search had made when the row was withdrawn: these saw
            the failure, later ones see what became of the trial since.
    """

    trial_id: FileName
    number: Count
    search: FileName
    stage: str
    cause: str
    message: str | None
    traceback: str | None
    log: str | None
    ended_at: Time | None
    attempts: Count
    asks: Count


_KIND = RecordKind(
    RetriedFailure,
    "withdrawn failure",
    "failures",
    lambda paths, it: paths.retried_failure(it.trial_id, it.number),
)


def write_retried(paths: StudyPaths, failure: RetriedFailure) -> None:
    """Write a failure that is about to be withdrawn."""
    _KIND.write(paths, failure)


def read_retried(paths: StudyPaths) -> dict[str, list[RetriedFailure]]:
    """Trial id -> its withdrawn failures in order; empty if none ever was.

    Raises:
        CorruptFileError: a file is truncated, was changed, or is not the failure its name says.
    """
    found: dict[str, list[RetriedFailure]] = {}
    for failure in _KIND.read_many(paths, list_below(paths.retried, ".json")):
        found.setdefault(failure.trial_id, []).append(failure)
    return {trial_id: sorted(them, key=lambda it: it.number) for trial_id, them in found.items()}


def read_retried_file(paths: StudyPaths, path: Place) -> RetriedFailure:
    """The withdrawn failure in a file.

    Raises:
        CorruptFileError: as `read_retried`.
    """
    return _KIND.read(paths, path)


def last_retried_attempt(paths: StudyPaths, trial_id: str) -> int:
    """Number of the last attempt before a trial was run again after a failure; 0 if it never was.

    Raises:
        CorruptFileError: as `read_retried`.
    """
    folder = paths.retried_folder(trial_id)
    files = [folder / name for name in list_names(folder, ".json")]
    return max((failure.attempts for failure in _KIND.read_many(paths, files)), default=0)
