"""Deletes rows of trials that are to run again. Safe to be killed at any line, and to be repeated.

A compacted row gets a file of its own first, as it had before it was compacted. Then it is left
out of a new compacted file, which replaces the old one as in a compaction. What remains is to
delete files of one trial each. Readers see every other row exactly once meanwhile, and one to be
withdrawn at most once.

Callers hold the study's lock and have recorded which rows are to go, so that the next run
continues after a kill.
"""

from collections.abc import Collection, Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from orchestrator.results.records import checkpoint_files
from orchestrator.results.records.retried import retried_names
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import read_schema
from orchestrator.results.storage.files import put, refuse_links, remove, remove_all, writing
from orchestrator.results.storage.local_copies import forget
from orchestrator.results.storage.locations import Place
from orchestrator.results.storage.transient_errors import with_retries
from orchestrator.results.trial_files.compaction import (
    compacted_name,
    finish_compaction,
    with_missing_columns,
)
from orchestrator.results.trial_files.compaction_manifest import (
    Manifest,
    take_inventory,
    write_manifest,
)
from orchestrator.results.trial_files.parquet_file import encode, parquet_writer, read_groups
from orchestrator.results.trial_files.unfinished_compaction import mark_unfinished


def withdraw_trials(paths: StudyPaths, trials: Mapping[str, str]) -> None:
    """Delete the rows of trials, compacted or not, and what they left in checkpoints.

    Args:
        paths: paths of the results folder.
        trials: trial id -> id of its search. All have rows.

    Raises:
        CorruptFileError: a file is damaged, or the folder holds links; no other trial is lost.
        StoreError: the store cannot be written; no other trial is lost.
    """
    if not trials:
        return
    refuse_links(paths.folder, deep=True)
    finish_compaction(paths)
    _take_out(paths, trials)
    files = [paths.trial(search, trial_id) for trial_id, search in trials.items()]
    for trial_id in trials:  # a run killed right after its commit may have left one
        checkpoint_files.delete(paths, trial_id)
    remove_all(files)
    forget(files)


def _take_out(paths: StudyPaths, trials: Mapping[str, str]) -> None:
    """Give those that are compacted a file of their own again."""
    manifest, compacted = (inventory := take_inventory(paths)).manifest, inventory.compacted
    gone = trials.keys() & manifest.trials.keys()
    if not gone or compacted is None:
        return
    schema = read_schema(paths)
    mark_unfinished(paths)
    for row in _rows(compacted, schema, gone):
        trial_id = row["trial_id"][0].as_py()
        put(paths.trial(trials[trial_id], trial_id), encode(row))
    left = {trial_id: file for trial_id, file in manifest.trials.items() if trial_id not in gone}
    if left:
        name = compacted_name(left, schema, retried_names(paths))
        with_retries(lambda: _write_others(paths.compacted / name, compacted, schema, gone))
        write_manifest(paths, Manifest(file=name, trials=left))
    else:
        remove(paths.manifest)
    finish_compaction(paths)


def _rows(compacted: Place, schema: pa.Schema, trial_ids: Collection[str]) -> Iterator[pa.Table]:
    """The rows of some trials, each as a table of the study's schema."""
    wanted = pa.array(sorted(trial_ids), pa.string())
    for group in read_groups(compacted, schema):
        for index in pc.indices_nonzero(pc.is_in(group["trial_id"], wanted)).to_pylist():
            yield with_missing_columns(group.slice(index, 1), schema)


def _write_others(
    target: Place, compacted: Place, schema: pa.Schema, gone: Collection[str]
) -> None:
    unwanted = pa.array(sorted(gone), pa.string())
    with writing(target) as file, parquet_writer(file, schema) as writer:
        for group in read_groups(compacted, schema):
            rows = group.filter(pc.invert(pc.is_in(group["trial_id"], unwanted)))
            if rows.num_rows:
                writer.write_table(with_missing_columns(rows, schema))
