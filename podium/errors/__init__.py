"""Errors that a user can fix: one root, printed without a traceback, each with its exit code.

PodiumError (exit code 2: bad input)
├── StudyError (a study is invalid)
├── TrialInputError (trainables.errors; data set, protocol, hyperparameters or settings unusable)
│   └── DataError (the data set is missing or damaged, for whatever trial reads it)
├── Diverged, Collapsed (podium.trainables.errors; exit code 1: a training failed)
├── CorruptFileError (truncated, foreign or changed file)
├── LockHeldError (exit code 4: another run owns the study)
├── StoreError (exit code 4: store unreachable, full, read-only)
│   ├── FolderGoneError (the results folder vanished during the run)
│   ├── PlaceError (exit code 2: a URI that names no store)
│   └── UnreachableError (may be transient: the operation was retried before it was raised)
└── ClusterGoneError (orchestrator.scheduling.executor_interface; exit code 3: resumable)
"""

from collections.abc import Sequence


class PodiumError(Exception):
    """A clear message for the user: rule, offending value, place, known choices."""

    exit_code = 2


class StudyError(PodiumError):
    """A study is invalid.

    Attributes:
        problems: one line for each problem shown, as ``key: rule; got value; choices``.
    """

    def __init__(self, problems: Sequence[str], num_more: int = 0) -> None:
        """``num_more`` problems are counted and not shown."""
        self.problems = tuple(problems)
        num = len(problems) + num_more
        count = "1 problem" if num == 1 else f"{num} problems"
        more = [f"... and {num_more} more"] if num_more else []
        super().__init__("\n".join([f"{count} with the study:", *problems, *more]))


class CorruptFileError(PodiumError):
    """A file of the store is truncated, foreign or does not fit its name."""


class LockHeldError(PodiumError):
    """Another run of the same study is alive."""

    exit_code = 4


class StoreError(PodiumError):
    """The results store cannot be read or written."""

    exit_code = 4


class FolderGoneError(StoreError):
    """The results folder was deleted, renamed or unmounted while a run was using it."""


class PlaceError(StoreError):
    """The URI of a store is malformed or names no known kind of store; none was contacted."""

    exit_code = 2


class UnreachableError(StoreError):
    """The results store does not answer; the cause may be transient."""
