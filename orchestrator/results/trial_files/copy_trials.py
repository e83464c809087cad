"""Commits the results of trials under the identity of others.

Several searches may ask for the same training. It is done once, and each of them gets a row. Test
scores go from file to file here; who asks for the copies does not see them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from orchestrator.results.errors import CorruptFileError
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import file_size
from orchestrator.results.trial_files.commit_trial import commit_trial
from orchestrator.results.trial_files.compaction_manifest import take_inventory
from orchestrator.results.trial_files.parquet_file import read_trials

__all__ = ["Copy", "copy_trials"]

_Row = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """A row to be.

    Attributes:
        trial_id: of the trial whose results it is to hold.
        search: of that trial.
        identity: its own identity columns.
    """

    trial_id: str
    search: str
    identity: Mapping[str, object]


def copy_trials(paths: StudyPaths, schema: pa.Schema, copies: Sequence[Copy]) -> None:
    """Commit a row for each copy, in order; one that was there before stays.

    Nothing was trained or tested for them: ``attempts`` and ``test_readings`` are 0.

    Raises:
        CorruptFileError: a trial that is to be copied has no row that can be read.
        StoreError: the store cannot be read or written.
    """
    compacted = _compacted_rows(paths, schema, copies)
    for copy in copies:
        row = compacted.get(copy.trial_id) or _loose_row(paths, schema, copy)
        if row is None:
            raise CorruptFileError(
                f"{paths.folder} has no row of trial {copy.trial_id}, to be copied"
            )
        whole = {**dict.fromkeys(schema.names), **row, **copy.identity}
        commit_trial(paths, schema, {**whole, "attempts": 0, "test_readings": 0})


def _compacted_rows(
    paths: StudyPaths, schema: pa.Schema, copies: Sequence[Copy]
) -> dict[str, _Row]:
    """Trial id -> row, of trials that have no file of their own any more; read in one pass."""
    wanted = {copy.trial_id for copy in copies if not _has_file(paths, copy)}
    compacted = take_inventory(paths).compacted if wanted else None
    rows = [] if compacted is None else read_trials(compacted, schema, wanted)
    return {str(row["trial_id"]): row for row in rows}


def _loose_row(paths: StudyPaths, schema: pa.Schema, copy: Copy) -> _Row | None:
    """From the file of its own; no folder is listed for it."""
    if not _has_file(paths, copy):
        return None
    path = paths.trial(copy.search, copy.trial_id)
    return next(iter(read_trials(path, schema, {copy.trial_id})), None)


def _has_file(paths: StudyPaths, copy: Copy) -> bool:
    return file_size(paths.trial(copy.search, copy.trial_id)) > 0
