"""Gathers the rows of searches in one file each, and deletes rows that are to be made again.

Safe to be killed at any line, and to be repeated: a gathered file is created whole beside what it
gathers, and only then may that be deleted. Callers hold the study's lock, so that only one process
gathers; others may commit and read meanwhile.
"""

from collections.abc import Callable, Mapping, Sequence

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import Store, read_store
from podium.orchestrator.results.storage.files import (
    list_files,
    list_folders,
    put_if_absent,
    remove,
    remove_temporaries,
)
from podium.orchestrator.results.storage.local_copies import keep_copy
from podium.orchestrator.results.storage.locations import Place
from podium.orchestrator.results.trial_files.inventory import (
    gathered,
    needed_files,
    open_rows,
    take_inventory,
    trial_files,
    trials_in,
)
from podium.orchestrator.results.trial_files.parquet_file import encode_many, schema_of, verified


def gather_search(
    paths: StudyPaths, search: str, check: Callable[[], object] = lambda: None
) -> None:
    """Gather the rows that a search has; files of single rows stay (see `gather_all`).

    Of earlier gathered files the last stays too, since a reader may have just listed it. ``check``
    raises if another process owns the study by now; nothing is lost then.

    Raises:
        CorruptFileError: a file is damaged or not where it belongs; no trial is lost.
        StoreError: the store cannot be read or written; no trial is lost.
    """
    if files := take_inventory(paths, search).get(search):
        whole = _gather_rows(paths, files, read_store(paths), check)
        known = gathered(trial_files(paths, search))
        remove(*(file for file in known if file not in (whole, *files)))


def gather_all(paths: StudyPaths) -> None:
    """Gather the rows of all searches, once no worker is left; raises as `gather_search`.

    What is gathered, checkpoints of committed trials and temporary files are deleted.
    """
    store = read_store(paths)  # which refuses links, before anything is deleted
    _remove_temporaries(paths)
    checkpoints = list_files(paths.checkpoints, ".pt")
    listed = trial_files(paths)
    whole = {_gather_rows(paths, files, store) for files in needed_files(listed).values()}
    # After all are gathered: a program that lists the folder meanwhile should not miss both.
    remove(*(file for file in listed if file not in whole))
    if checkpoints:
        committed = frozenset().union(*map(trials_in, whole))
        remove(*(file for file in checkpoints if file.stem in committed))


def withdraw_trials(paths: StudyPaths, trials: Mapping[str, str]) -> None:
    """Delete the rows of trials, id -> search, that are to run again, and their checkpoints.

    Callers have recorded which rows are to go: after a kill they call this again.

    Raises:
        CorruptFileError: a file is damaged; no other trial is lost.
        StoreError: the store cannot be written; no other trial is lost.
    """
    store = read_store(paths)
    for search in sorted(set(trials.values())):
        gone = {trial_id for trial_id, of in trials.items() if of == search}
        known = gathered(trial_files(paths, search))
        replaced = [file for file in known if trials_in(file) & gone]
        for file in replaced:
            rows = _rows([file], store)
            unwanted = pc.is_in(rows["trial_id"], pa.array(sorted(gone), pa.string()))
            if not pc.all(unwanted).as_py():
                _write(paths, search, rows.filter(pc.invert(unwanted)))
        remove(*replaced, *(paths.trial(search, trial_id) for trial_id in gone))
    remove(*map(paths.checkpoint, trials))  # a run killed right after its commit may have left one


def _gather_rows(
    paths: StudyPaths,
    files: Sequence[Place],
    store: Store,
    check: Callable[[], object] = lambda: None,
) -> Place:
    """The one file with all rows of a search, which is created unless there is one already."""
    is_one = len(files) == len(gathered(files)) == 1
    # The study may have gained columns since it was written.
    if is_one and schema_of(verified(files[0]), files[0]).names == store.schema.names:
        return files[0]
    rows = _rows(files, store)
    check()
    return _write(paths, StudyPaths.search_of(files[0]), rows)


def _write(paths: StudyPaths, search: str, rows: pa.Table) -> Place:
    """Create the gathered file of some rows, named after what it holds."""
    data, checksum = encode_many(rows)
    path = paths.gathered_trials(search, rows.num_rows, checksum)
    put_if_absent(path, data)
    keep_copy(path, data)
    return path


def _rows(files: Sequence[Place], store: Store) -> pa.Table:
    """The rows of files with every column; hyperparameters that they lack are null."""
    rows = open_rows(files, store, store.schema.names)
    return rows.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest()).cast(store.schema)


def _remove_temporaries(paths: StudyPaths) -> None:
    """Delete what killed writers left, but of lock and report, which others may be writing."""
    searches = (*list_folders(paths.trials), *list_folders(paths.journals))
    for folder in (*searches, paths.models, paths.embeddings, paths.checkpoints, paths.runs):
        remove_temporaries(folder)
    for file in (paths.store, paths.study, paths.provenance):
        remove_temporaries(paths.folder, file.name)
