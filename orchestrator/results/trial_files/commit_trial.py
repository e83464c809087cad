"""Commits trials: one trial = one file = one row, and the first commit wins."""

from collections.abc import Mapping

import pyarrow as pa

from orchestrator.results.errors import StoreError
from orchestrator.results.records.folder_presence import is_present
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import put_if_absent, remove
from orchestrator.results.trial_files.compaction_manifest import read_manifest
from orchestrator.results.trial_files.parquet_file import encode
from orchestrator.results.trial_files.row_checks import to_table

__all__ = ["commit_trial"]


def commit_trial(paths: StudyPaths, schema: pa.Schema, row: Mapping[str, object]) -> bool:
    """Write the row of an ended trial, for good.

    Args:
        paths: the results folder.
        schema: of every trial of the study, from `trial_schema`.
        row: a value for every column, None for null; nested columns are lists of dicts.

    Returns:
        False if the trial was committed before, now in a compacted file or not; that row stays.

    Raises:
        ValueError: the row does not fit the schema, or holds NaN or infinities.
        StoreError: the store cannot be written, or not be read after the row was: a later commit
            of the trial finds out whether its row is there.
    """
    data = encode(to_table(schema, row))
    if not is_present(paths):  # a folder made again in its place would hide what was there
        raise StoreError(
            f"{paths.folder} is gone: it has no {paths.store.name} any more. Bring it back, then"
            " the same command goes on"
        )
    search, trial_id = str(row["search"]), str(row["trial_id"])
    path = paths.trial(search, trial_id)
    if not put_if_absent(path, data):
        return False
    # The file of a trial that was compacted is gone, so its name was free. Looking only now, after
    # the name is taken, leaves no moment in which a compaction could slip in between.
    if trial_id in read_manifest(paths).trials:
        remove(path)
        return False
    return True
