"""Compacts trial files into segments. Safe to be killed at any line, and to be repeated.

Loose files are gathered into a segment of level 0; as soon as a level has eight segments they are
merged into one of the next. So a row is rewritten once for each level, of which a million trials
have four. A segment of level 0 that is not full, as a small study has, is gathered again with the
loose files that come after it.

Each step replaces some files by one:

1. Listing and counts of the new segment are written, and the segment under a temporary name.
2. Files that no program can read as Parquet are put there (`unfinished_compaction`).
3. The new segment gets its name: no process of podium reads it yet.
4. The manifest is replaced, if it still is the one that was read: from this moment the new segment
   is read, and what it replaces is not.
5. What it replaces is deleted, then the files of step 2.

Between the steps 3 and 5 programs that know nothing of the manifest would find trials twice, since
no store swaps many files for one at once; the files of step 2 make them fail instead. A compaction
that was killed is finished by the next one, or by the next run of the study. Callers hold the
study's lock, so there is only ever one; workers may commit meanwhile.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import polars as pl
import pyarrow as pa

from orchestrator.results.records import checkpoint_files as checkpoints
from orchestrator.results.records.retried import retried_names
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import read_schema, study_name
from orchestrator.results.storage.files import (
    exists,
    list_folders,
    refuse_links,
    remove_all,
    remove_temporaries,
    writing,
)
from orchestrator.results.storage.local_copies import fetch, forget
from orchestrator.results.storage.locations import Place
from orchestrator.results.storage.transient_errors import with_retries
from orchestrator.results.trial_files.compaction_manifest import (
    NOTHING,
    Inventory,
    Manifest,
    Segment,
    hash_of_names,
    level_of,
    loose_trials,
    read_manifest,
    take_inventory,
    write_manifest,
)
from orchestrator.results.trial_files.gathered_records import gather_all
from orchestrator.results.trial_files.integrity import (
    IDENTITY,
    check_segment_rows,
    leftover_files,
)
from orchestrator.results.trial_files.parquet_file import parquet_writer, read_groups
from orchestrator.results.trial_files.row_checks import check_row_fits_path
from orchestrator.results.trial_files.segment_counts import (
    added_up,
    counts_in,
    write_counts,
)
from orchestrator.results.trial_files.segment_trials import (
    SegmentTrials,
    joined,
    keep_listing,
    listing_of,
    write_listing,
)
from orchestrator.results.trial_files.unfinished_compaction import mark_unfinished, unmark

TRIALS_PER_ROW_GROUP = 256
# Smaller groups are joined: of each the footer has 14 kB, which every reader decodes.
_ROW_GROUP_BYTES = 2**24
_ROWS_AT_ONCE = 8  # a table of one row takes a hundred times as much memory as its values


def compact(paths: StudyPaths) -> int:
    """Gather every committed trial in segments of the study's schema, and asks and attempts too.

    A segment written before the study was extended is rewritten with the columns it lacks, so that
    plain polars reads the folder again.

    Returns:
        How many trial files were gathered; 0 if there was nothing to do.

    Raises:
        CorruptFileError: a file is damaged or not where it belongs, or the folder holds links; no
            trial is lost.
        StoreError: the store cannot be written; no trial is lost.
    """
    refuse_links(paths.folder, deep=True)
    inventory = take_inventory(paths)
    _clean(paths, inventory)
    compaction = _compaction(paths, lambda: None, {})
    compaction.write_lacking_columns(compaction.gather(inventory.manifest, inventory.loose))
    gather_all(paths, inventory)
    return len(inventory.loose)


def compact_loose(
    paths: StudyPaths,
    loose: Mapping[str, Place],
    check: Callable[[], object] = lambda: None,
    known: Mapping[str, pa.Table] = MappingProxyType({}),
) -> None:
    """Gather trial files into a segment, then merge the levels that are full.

    What it costs does not depend on how many files the folder holds, but on what is gathered and
    merged.

    Args:
        paths: paths of the results folder, without what a killed compaction leaves.
        loose: trial id -> trial file, of committed trials. Those in a segment are left out.
        check: called again and again, and right before anything is replaced or deleted; what it
            raises ends the compaction, and the next one finishes it.
        known: trial id -> row, of files that this process has written, which are not read then.

    Raises:
        CorruptFileError: a file is damaged or not where it belongs; no trial is lost.
        StoreError: the store cannot be written, or another process compacts it; no trial is lost.
    """
    _compaction(paths, check, known).gather(read_manifest(paths), loose)


def finish_compaction(paths: StudyPaths) -> None:
    """Finish a compaction that was killed, so that other programs can read the folder again.

    Raises:
        CorruptFileError: a compacted file holds trials that are found nowhere else.
        StoreError: the store cannot be written; no trial is lost.
    """
    if exists(paths.unfinished_compaction):
        _clean(paths, take_inventory(paths))


def remove_all_leftovers(paths: StudyPaths) -> None:
    """Delete checkpoints of committed trials and temporary files, once no worker is left.

    Callers hold the study's lock, whose own temporary files `LockFile.take` deletes.
    """
    inventory = take_inventory(paths)
    for folder in list_folders(paths.checkpoints):
        if folder.name in inventory.loose or folder.name in inventory.manifest:
            checkpoints.delete(paths, folder.name)
    for parent in (paths.trials, paths.asks, paths.attempts, paths.retried):
        for folder in list_folders(parent):
            remove_temporaries(folder)
    for folder in (paths.asks, paths.attempts, paths.models, paths.embeddings, paths.runs):
        remove_temporaries(folder)
    for file in (paths.store, paths.study, paths.provenance, paths.report):
        remove_temporaries(paths.folder, file.name)


def segment_groups(segment: Segment, schema: pa.Schema, study: str) -> Iterator[pa.Table]:
    """The row groups of a segment with every column of ``schema``, then its trials are checked.

    Raises:
        CorruptFileError: it is damaged, or holds other trials than its listing says.
    """
    found = [schema.empty_table().select(IDENTITY)]
    for group in read_groups(segment.path, schema):
        found.append(group.select(IDENTITY))
        yield with_missing_columns(group, schema)
    check_segment_rows(segment, pa.concat_tables(found), study)


def _loose_groups(
    files: Mapping[str, Place], schema: pa.Schema, study: str, known: Mapping[str, pa.Table]
) -> Iterator[pa.Table]:
    loose = list(files)
    for start in range(0, len(loose), TRIALS_PER_ROW_GROUP):
        of_group = loose[start : start + TRIALS_PER_ROW_GROUP]
        fetch([files[trial_id] for trial_id in of_group if trial_id not in known])
        parts = []
        for first in range(0, len(of_group), _ROWS_AT_ONCE):
            rows = [
                with_missing_columns(known[trial_id], schema)
                if trial_id in known
                else _row(files[trial_id], schema, study)
                for trial_id in of_group[first : first + _ROWS_AT_ONCE]
            ]
            parts.append(pa.concat_tables(rows).combine_chunks())
        yield pa.concat_tables(parts)


def _row(path: Place, schema: pa.Schema, study: str) -> pa.Table:
    row = pa.concat_tables(
        with_missing_columns(group, schema) for group in read_groups(path, schema)
    )
    check_row_fits_path(path, row, study)
    return row


def with_missing_columns(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The table with every column of ``schema``; hyperparameters that it lacks are null."""
    if table.schema.equals(schema, check_metadata=True):
        return table
    present = set(table.column_names)
    columns = [
        table[column.name] if column.name in present else pa.nulls(len(table), column.type)
        for column in schema
    ]
    return pa.table(columns, schema=schema)


def write_segment(
    paths: StudyPaths,
    schema: pa.Schema,
    trials: SegmentTrials,
    rows: Iterable[pa.Table],
    *,
    replaced: Manifest = NOTHING,
    least_level: int = 0,
    before_it_shows: Callable[[], object] = lambda: None,
) -> Segment:
    """Write a segment, its listing and its counts; it is in force once a manifest names it.

    Args:
        paths: paths of the results folder.
        schema: schema of the study.
        trials: its trials.
        rows: their rows, in tables of ``schema``; small neighbours share a row group.
        replaced: the manifest in force.
        least_level: level of the segment, unless it has the trials of a higher one.
        before_it_shows: called when the segment is written, before its file gets its name.
    """
    # What a withdrawn failure stands for never changes, and the same trials have other rows once
    # some were retried.
    name = hash_of_names([*trials, *schema.names, *retried_names(paths)])
    path = paths.segments / f"{replaced.next_number:06d}-{name}.parquet"
    counts: list[pl.DataFrame] = []
    with writing(path) as file:
        with parquet_writer(file, schema) as writer:
            for table in _row_groups(rows):
                writer.write_table(table)
                counts.append(counts_in(table))
        checksum = write_listing(listing_of(path), trials)
        file.flush()
        num_bytes = os.fstat(file.fileno()).st_size
        counts_checksum = write_counts(path, num_bytes, added_up(counts))
        os.fsync(file.fileno())  # a large file takes a while: not between here and its name
        before_it_shows()
    keep_listing(path, checksum, trials)
    return Segment(
        path=path,
        level=max(least_level, level_of(len(trials))),
        num_trials=len(trials),
        checksum=checksum,
        columns=hash_of_names(schema.names),
        counts=counts_checksum,
    )


def _row_groups(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """The same rows, neighbours joined as long as they take little memory."""
    joint: list[pa.Table] = []
    num_bytes = 0
    for table in tables:
        more_bytes = table.nbytes
        if joint and num_bytes + more_bytes > _ROW_GROUP_BYTES:
            yield pa.concat_tables(joint)
            joint, num_bytes = [], 0
        joint.append(table)
        num_bytes += more_bytes
    if joint:
        yield pa.concat_tables(joint)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compaction:
    """Replaces files by segments, in a results folder whose rows have one schema."""

    paths: StudyPaths
    schema: pa.Schema
    study: str
    check: Callable[[], object]
    known: Mapping[str, pa.Table]

    def gather(self, manifest: Manifest, loose: Mapping[str, Place]) -> Manifest:
        """Gather trial files, then merge the levels that are full; gives the manifest by then."""
        new = {trial_id: path for trial_id, path in loose.items() if trial_id not in manifest}
        if new:
            with_room = [segment for segment in manifest.segments if segment.has_room]
            manifest = self._replace(manifest, new, with_room, least_level=0)
        while full := manifest.full_level:
            manifest = self._replace(manifest, {}, full, least_level=full[0].level + 1)
        return manifest

    def write_lacking_columns(self, manifest: Manifest) -> None:
        """Rewrite the segments from before the study gained columns."""
        for segment in manifest.segments:
            if segment.columns != hash_of_names(self.schema.names):
                manifest = self._replace(manifest, {}, [segment], least_level=segment.level)

    def _replace(
        self,
        manifest: Manifest,
        loose: Mapping[str, Place],
        segments: Sequence[Segment],
        *,
        least_level: int,
    ) -> Manifest:
        """Put one segment in the place of trial files and other segments."""
        own = SegmentTrials.of({it: StudyPaths.search_of(path) for it, path in loose.items()})
        trials = joined([own, *(segment.trials for segment in segments)])

        def write() -> Segment:
            return write_segment(
                self.paths,
                self.schema,
                trials,
                self._rows(loose, segments),
                replaced=manifest,
                least_level=least_level,
                before_it_shows=partial(mark_unfinished, self.paths),
            )

        new = with_retries(write)  # a partly written file cannot be continued: it is written anew
        kept = [segment for segment in manifest.segments if segment not in segments]
        manifest = self._put_in_force(manifest, [*kept, new])
        gone = [place for it in segments for place in it.files]
        replaced = [*loose.values(), *(it for it in gone if it not in new.files)]
        self.check()
        remove_all(replaced)
        forget(replaced)
        unmark(self.paths)
        return manifest

    def _put_in_force(self, manifest: Manifest, segments: Sequence[Segment]) -> Manifest:
        """Replace a manifest, unless the study or the manifest is another process's by now."""
        self.check()
        write_manifest(self.paths, segments, manifest)
        return Manifest(segments=tuple(segments))

    def _rows(self, loose: Mapping[str, Place], segments: Sequence[Segment]) -> Iterator[pa.Table]:
        for segment in segments:
            for group in segment_groups(segment, self.schema, self.study):
                self.check()
                yield group
        for group in _loose_groups(loose, self.schema, self.study, self.known):
            self.check()
            yield group


def _compaction(
    paths: StudyPaths, check: Callable[[], object], known: Mapping[str, pa.Table]
) -> _Compaction:
    return _Compaction(
        paths=paths, schema=read_schema(paths), study=study_name(paths), check=check, known=known
    )


def _clean(paths: StudyPaths, inventory: Inventory) -> None:
    """Delete what the manifest in force replaces, and what a killed compaction left."""
    for folder in (paths.segments, paths.compacted):
        remove_temporaries(folder)
    unwanted = [
        *leftover_files(paths, inventory),
        *(path for trial, path in loose_trials(paths).items() if trial in inventory.manifest),
    ]
    if unwanted:
        mark_unfinished(paths)
        remove_all(unwanted)
    unmark(paths)
