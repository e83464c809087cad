"""Commits trials: one trial = one file = one row, and the first commit wins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from orchestrator.results.records.metric_columns import known_test_columns
from orchestrator.results.records.results_folder import is_present
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import study_name
from orchestrator.results.storage.files import put_if_absent, remove
from orchestrator.results.storage.local_copies import keep_copy
from orchestrator.results.trial_files.flat_test_scores import with_flat_test_scores
from orchestrator.results.trial_files.integrity import open_trials
from orchestrator.results.trial_files.inventory import is_gathered, take_inventory
from orchestrator.results.trial_files.parquet_file import encode
from orchestrator.results.trial_files.row_checks import to_table
from podium.errors import CorruptFileError, StoreError


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialCopy:
    """A row with the results of another trial.

    Attributes:
        trial_id: id of the trial whose results it gets.
        search: id of the search of that trial.
        identity: identity columns of the new row.
    """

    trial_id: str
    search: str
    identity: Mapping[str, object]


def commit_trial(paths: StudyPaths, schema: pa.Schema, row: Mapping[str, object]) -> bool:
    """Write the row of an ended trial, which is never changed again.

    Args:
        paths: paths of the results folder.
        schema: schema of every trial file of the study, from `trial_schema`.
        row: a value for every column, None for null; nested columns are lists of dicts. Flat test
            columns may be missing: they are derived from ``test_scores`` in any case.

    Returns:
        Whether the row was written; if the trial was committed before, that row stays.

    Raises:
        ValueError: the row does not fit the schema, or holds NaN or infinities.
        StoreError: the store cannot be written, or not be read after the row was: a later commit
            of the trial finds out whether its row is there.
    """
    flat = dict.fromkeys(known_test_columns(schema.names))
    table = to_table(schema, {**row, **flat})
    if row["stage"] != "search":  # there they are null; to derive that takes a third of a commit
        table = with_flat_test_scores(table)
    data = encode(table)
    if not is_present(paths):  # a folder made again in its place would hide what was there
        raise StoreError(
            f"{paths.folder} is gone: it no longer has a {paths.store.name}. Restore it, then"
            " run the same command to continue"
        )
    search, trial_id = str(row["search"]), str(row["trial_id"])
    path = paths.trial(search, trial_id)
    if not put_if_absent(path, data):
        return False
    # The file of a trial that was gathered may be gone, so that its name is free. It is looked for
    # now that the name is taken: no gathering can slip in.
    if is_gathered(paths, search, trial_id):
        remove(path)
        return False
    keep_copy(path, data)  # which whoever gathers it need not fetch
    return True


def copy_trials(paths: StudyPaths, schema: pa.Schema, copies: Sequence[TrialCopy]) -> None:
    """Commit a row for each copy, in order; one that was there before stays.

    Nothing was trained or tested for them: ``attempts`` and ``test_readings`` are 0.

    Raises:
        CorruptFileError: a trial to be copied has no row, or a file is damaged or foreign.
        StoreError: the store cannot be read or written.
    """
    study = study_name(paths)
    wanted: dict[str, list[str]] = {}
    for copy in copies:
        wanted.setdefault(copy.search, []).append(copy.trial_id)
    originals = {
        row["trial_id"]: row
        for search, trial_ids in wanted.items()
        for file in take_inventory(paths, search).files_of(trial_ids)
        for group in open_trials(file, schema, study).groups()
        for row in group.filter(pc.field("trial_id").isin(trial_ids)).to_pylist()
    }
    for copy in copies:
        if copy.trial_id not in originals:
            raise CorruptFileError(
                f"{paths.folder} has no row of trial {copy.trial_id}, to be copied"
            )
        row = {**dict.fromkeys(schema.names), **originals[copy.trial_id], **copy.identity}
        commit_trial(paths, schema, {**row, "attempts": 0, "test_readings": 0})
