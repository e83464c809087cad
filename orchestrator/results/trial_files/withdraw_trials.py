"""Deletes rows of trials that are to run again. Safe to be killed at any line, and to be repeated.

Gathered attempts at the trials get files of their own again first, as the next attempt is counted
from these. A row in a segment gets a file of its own, as it had before it was compacted. Then it
is left out of a new segment, which replaces the old one as in a compaction. What remains is to
delete files of one trial each. Readers see every other row exactly once meanwhile, and one to be
withdrawn at most once.

Callers hold the study's lock and have recorded which rows are to go, so that the next run
continues after a kill.
"""

from collections.abc import Collection, Iterator, Mapping
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from orchestrator.results.records import checkpoint_files
from orchestrator.results.records.attempts import release_attempts
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import read_schema
from orchestrator.results.storage.files import put, refuse_links, remove_all
from orchestrator.results.storage.local_copies import forget
from orchestrator.results.storage.transient_errors import with_retries
from orchestrator.results.trial_files.compaction import (
    finish_compaction,
    with_missing_columns,
    write_segment,
)
from orchestrator.results.trial_files.compaction_manifest import (
    Manifest,
    Segment,
    read_manifest,
    write_manifest,
)
from orchestrator.results.trial_files.parquet_file import encode, read_groups
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
    for search in sorted(set(trials.values())):
        release_attempts(paths, search, trials)
    _take_out(paths, trials)
    files = [paths.trial(search, trial_id) for trial_id, search in trials.items()]
    for trial_id in trials:  # a run killed right after its commit may have left one
        checkpoint_files.delete(paths, trial_id)
    remove_all(files)
    forget(files)


def _take_out(paths: StudyPaths, trials: Mapping[str, str]) -> None:
    """Give those that are compacted a file of their own again."""
    manifest = read_manifest(paths)
    gone = {segment: segment.trials.among(trials) for segment in manifest.segments}
    if not any(gone.values()):
        return
    schema = read_schema(paths)
    mark_unfinished(paths)
    left = []
    for segment, trial_ids in gone.items():
        for row in _rows(segment, schema, trial_ids) if trial_ids else ():
            trial_id = row["trial_id"][0].as_py()
            put(paths.trial(trials[trial_id], trial_id), encode(row))
        if len(trial_ids) < segment.num_trials:
            left.append(
                with_retries(partial(_without, paths, schema, manifest, segment, trial_ids))
                if trial_ids
                else segment
            )
    write_manifest(paths, left, manifest)
    finish_compaction(paths)


def _rows(segment: Segment, schema: pa.Schema, trial_ids: Collection[str]) -> Iterator[pa.Table]:
    """The rows of some trials, each as a table of the study's schema."""
    wanted = pa.array(sorted(trial_ids), pa.string())
    for group in read_groups(segment.path, schema):
        for index in pc.indices_nonzero(pc.is_in(group["trial_id"], wanted)).to_pylist():
            yield with_missing_columns(group.slice(index, 1), schema)


def _without(
    paths: StudyPaths,
    schema: pa.Schema,
    manifest: Manifest,
    segment: Segment,
    gone: Collection[str],
) -> Segment:
    """A segment of the other trials."""
    trials = segment.trials.without(gone)
    others = _other_rows(segment, schema, gone)
    return write_segment(
        paths, schema, trials, others, replaced=manifest, least_level=segment.level
    )


def _other_rows(segment: Segment, schema: pa.Schema, gone: Collection[str]) -> Iterator[pa.Table]:
    unwanted = pa.array(sorted(gone), pa.string())
    for group in read_groups(segment.path, schema):
        rows = group.filter(pc.invert(pc.is_in(group["trial_id"], unwanted)))
        if rows.num_rows:
            yield with_missing_columns(rows, schema)
