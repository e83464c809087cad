"""Errors a user can do something about. The command line prints them without a traceback.

PodiumError (exit code 2: bad input)
├── StoreError (exit code 4: store unreachable, full, read-only)
│   ├── FolderGoneError (the results folder vanished during the run)
│   ├── PlaceError (exit code 2: a URI that names no store)
│   └── UnreachableError (may be transient: the operation was retried before it was raised)
├── LockHeldError (exit code 4: another run owns the study)
└── CorruptFileError (exit code 2: truncated, foreign or changed file)
"""

__all__ = [
    "CorruptFileError",
    "FolderGoneError",
    "LockHeldError",
    "PlaceError",
    "PodiumError",
    "StoreError",
    "UnreachableError",
]


class PodiumError(Exception):
    """A clear message for the user: rule, offending value, place, known choices."""

    exit_code = 2


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


class LockHeldError(PodiumError):
    """Another run of the same study is alive."""

    exit_code = 4


class CorruptFileError(PodiumError):
    """A file of the store is truncated, foreign or does not fit its name."""
