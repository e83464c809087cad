"""Compacts trial files into one. Safe to be killed at any line, and to be repeated.

1. The new file is written under a temporary name.
2. A file that no program can read as Parquet is put beside it (`unfinished_compaction`).
3. The new file gets its name: no process of podium reads it yet.
4. The manifest is replaced: from this moment the new file is read, and what it replaces is not.
5. What it replaces is deleted, then the file of step 2.

Between the steps 3 and 5 programs that know nothing of the manifest would find trials twice, since
no store swaps many files for one at once; the file of step 2 makes them fail instead. A compaction
that was killed is finished by the next one, or by the next run of the study. Callers hold the
study's lock, so there is only ever one; workers may commit meanwhile.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from orchestrator.results.records import checkpoint_files as checkpoints
from orchestrator.results.records.retried import retried_names
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import read_schema, study_name
from orchestrator.results.storage.files import (
    exists,
    list_folders,
    refuse_links,
    remove,
    remove_all,
    remove_temporaries,
    writing,
)
from orchestrator.results.storage.local_copies import fetch
from orchestrator.results.storage.locations import relative_path
from orchestrator.results.storage.transient_errors import with_retries
from orchestrator.results.trial_files.compaction_manifest import (
    Inventory,
    Manifest,
    loose_trials,
    take_inventory,
    write_manifest,
)
from orchestrator.results.trial_files.flat_test_scores import with_flat_test_scores
from orchestrator.results.trial_files.integrity import (
    IDENTITY,
    check_compacted_rows,
    leftover_files,
)
from orchestrator.results.trial_files.parquet_file import open_parquet, parquet_writer, read_groups
from orchestrator.results.trial_files.row_checks import check_row_fits_path
from orchestrator.results.trial_files.unfinished_compaction import mark_unfinished

TRIALS_PER_ROW_GROUP = 256
_HASH_LENGTH = 16


def compact(paths: StudyPaths) -> int:
    """Gather every committed trial in one file of the study's schema.

    A file written before the study was extended is rewritten with the columns it lacks, so that
    plain polars reads the folder again.

    Returns:
        How many trial files were gathered; 0 if there was nothing to do.

    Raises:
        CorruptFileError: a file is damaged or not where it belongs, or the folder holds links; no
            trial is lost.
        StoreError: the store cannot be written; no trial is lost.
    """
    refuse_links(paths.folder, deep=True)
    schema = read_schema(paths)
    inventory = take_inventory(paths)
    _clean(paths, inventory)
    if not inventory.loose and not _lacks_columns(inventory, schema):
        return 0
    # A partly written file cannot be continued, so a retry writes it anew.
    write_manifest(paths, with_retries(lambda: _write(paths, inventory, schema)))
    _clean(paths, take_inventory(paths))
    return len(inventory.loose)


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
        if folder.name in inventory.loose or folder.name in inventory.manifest.trials:
            checkpoints.delete(paths, folder.name)
    for parent in (paths.trials, paths.asks, paths.attempts, paths.retried):
        for folder in list_folders(parent):
            remove_temporaries(folder)
    for folder in (paths.models, paths.embeddings, paths.runs):
        remove_temporaries(folder)
    for file in (paths.store, paths.study, paths.provenance, paths.report):
        remove_temporaries(paths.folder, file.name)


def trial_groups(inventory: Inventory, schema: pa.Schema, study: str) -> Iterator[pa.Table]:
    """Every trial, in tables of at most a row group each.

    Args:
        inventory: files that hold the trials.
        schema: schema of the study.
        study: name of the study.

    Raises:
        CorruptFileError: a file is damaged or not where it belongs.
    """
    if inventory.compacted is not None:
        found = [schema.empty_table().select(IDENTITY)]
        for group in read_groups(inventory.compacted, schema):
            found.append(group.select(IDENTITY))
            yield with_missing_columns(group, schema)
        rows = pa.concat_tables(found)
        check_compacted_rows(inventory.compacted, rows, study, inventory.manifest)
    loose = list(inventory.loose.values())
    for start in range(0, len(loose), TRIALS_PER_ROW_GROUP):
        batch = []
        fetch(loose[start : start + TRIALS_PER_ROW_GROUP])
        for path in loose[start : start + TRIALS_PER_ROW_GROUP]:
            row = pa.concat_tables(
                with_missing_columns(group, schema) for group in read_groups(path, schema)
            )
            check_row_fits_path(path, row, study)
            batch.append(row)
        yield pa.concat_tables(batch)


def with_missing_columns(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The table with every column of ``schema``.

    Hyperparameters that it lacks are null, flat test columns are derived.
    """
    present = set(table.column_names)
    columns = [
        table[column.name] if column.name in present else pa.nulls(len(table), column.type)
        for column in schema
    ]
    whole = pa.table(columns, schema=schema)
    return whole if present.issuperset(schema.names) else with_flat_test_scores(whole)


def compacted_name(
    trials: Mapping[str, str], schema: pa.Schema, retried: Sequence[str] = ()
) -> str:
    """File name of a compacted file: a hash of its trials and columns.

    Args:
        trials: trial id -> trial file that it replaces.
        schema: schema of the study.
        retried: names of the failures that were withdrawn: what a name stands for never changes,
            and the same trials have other rows once some were retried.
    """
    text = "\n".join([*sorted(trials), *schema.names, *retried])
    return f"{hashlib.sha256(text.encode()).hexdigest()[:_HASH_LENGTH]}.parquet"


def _write(paths: StudyPaths, inventory: Inventory, schema: pa.Schema) -> Manifest:
    gathered = {
        trial_id: relative_path(paths.folder, path) for trial_id, path in inventory.loose.items()
    }
    trials = {**inventory.manifest.trials, **gathered}
    name = compacted_name(trials, schema, retried_names(paths))
    with writing(paths.compacted / name) as file:
        with parquet_writer(file, schema) as writer:
            for group in trial_groups(inventory, schema, study_name(paths)):
                writer.write_table(group)
        mark_unfinished(paths)  # before the file gets its name, which is when this block ends
    return Manifest(file=name, trials=trials)


def _clean(paths: StudyPaths, inventory: Inventory) -> None:
    """Delete what the manifest in force replaces, and what a killed compaction left."""
    remove_temporaries(paths.compacted)
    replaced = inventory.manifest.trials
    unwanted = [
        *leftover_files(paths, inventory),
        *(path for trial, path in loose_trials(paths).items() if trial in replaced),
    ]
    if unwanted:
        mark_unfinished(paths)
        remove_all(unwanted)
    remove(paths.unfinished_compaction)


def _lacks_columns(inventory: Inventory, schema: pa.Schema) -> bool:
    if inventory.compacted is None:
        return False
    with open_parquet(inventory.compacted) as file:
        return bool(file.schema_arrow.names != schema.names)
