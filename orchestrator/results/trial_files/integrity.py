"""Checks that every committed trial can be read, and has the path that fits its row."""

from collections.abc import Iterator

import pyarrow as pa

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import read_schema, study_name
from orchestrator.results.storage.files import list_names
from orchestrator.results.storage.local_copies import fetch
from orchestrator.results.storage.locations import Place
from orchestrator.results.trial_files.compaction_manifest import (
    Inventory,
    Manifest,
    searches_of,
    take_inventory,
)
from orchestrator.results.trial_files.parquet_file import read_column, read_groups
from orchestrator.results.trial_files.row_checks import check_row_fits_path
from podium.errors import CorruptFileError

_MAX_SHOWN = 10
IDENTITY = ["study", "search", "trial_id"]
"""Columns that say to which file a row belongs."""


def check_store(paths: StudyPaths) -> int:
    """Read every committed trial, checksums included; returns how many there are.

    Raises:
        CorruptFileError: files are missing, truncated, damaged, foreign, or do not hold what
            their path says; each is named, up to ten.
        PodiumError: it is not a results folder.
    """
    inventory = take_inventory(paths)
    while problems := list(_problems(paths, inventory)):
        fresh = take_inventory(paths)
        if fresh.manifest != inventory.manifest:  # compacted meanwhile: other files count now
            inventory = fresh
            continue
        rest = len(problems) - _MAX_SHOWN
        more = [f"and {rest} more files"] if rest > 0 else []
        raise CorruptFileError("\n".join([*problems[:_MAX_SHOWN], *more]))
    return len(inventory.loose) + len(inventory.manifest.trials)


def check_file(path: Place, study: str, schema: pa.Schema, manifest: Manifest) -> None:
    """Read one file of the store whole.

    Args:
        path: a trial file or the compacted file of ``manifest``.
        study: name of the study that it must belong to.
        schema: schema of the study.
        manifest: manifest that lists the trials of the compacted file.

    Raises:
        CorruptFileError: anything is wrong with it.
    """
    groups = [group.select(IDENTITY) for group in read_groups(path, schema)]
    if not groups:
        raise CorruptFileError(f"{path} holds no rows")
    rows = pa.concat_tables(groups)
    if path.name != manifest.file:
        check_row_fits_path(path, rows, study)
    else:
        check_compacted_rows(path, rows, study, manifest)


def check_compacted_rows(path: Place, rows: pa.Table, study: str, manifest: Manifest) -> None:
    """Refuse a compacted file that does not hold the rows that its manifest says.

    Args:
        path: the compacted file.
        rows: its rows, at least with their study, search and trial id.
        study: name of the study that they must belong to.
        manifest: manifest that lists them.

    Raises:
        CorruptFileError: it does not; the file and the difference are named.
    """
    others = set(rows["study"].to_pylist()) - {study}
    if others:
        found = min(map(repr, others))
        raise CorruptFileError(f"{path} holds rows of the study {found}, not {study!r}")
    trial_ids = rows["trial_id"].to_pylist()
    if sorted(map(repr, trial_ids)) != sorted(map(repr, manifest.trials)):
        raise CorruptFileError(f"{path} does not hold the trials that the manifest beside it says")
    searches = searches_of(manifest)
    for trial_id, search in zip(trial_ids, rows["search"].to_pylist(), strict=True):
        if search != searches[trial_id]:
            raise CorruptFileError(
                f"{path} holds a trial {trial_id} whose search is {search!r}; the manifest beside"
                f" it says {searches[trial_id]!r}"
            )


def leftover_files(paths: StudyPaths, inventory: Inventory) -> Iterator[Place]:
    """Compacted files that a killed compaction left, and that hold nothing of their own.

    Raises:
        CorruptFileError: one does hold trials that are found nowhere else, as when the manifest
            was lost: deleting or ignoring it would lose them.
    """
    known = inventory.loose.keys() | inventory.manifest.trials.keys()
    for name in list_names(paths.compacted, ".parquet"):
        path = paths.compacted / name
        if name == inventory.manifest.file or path == paths.unfinished_compaction:
            continue
        lost = len(set(read_column(path, "trial_id")) - known)
        if lost:
            raise CorruptFileError(
                f"{path} holds {lost} trials found nowhere else, and {paths.manifest} does not "
                "name it: restore the manifest, or move the file away to do without these trials"
            )
        yield path


def _problems(paths: StudyPaths, inventory: Inventory) -> Iterator[str]:
    study, schema = study_name(paths), read_schema(paths)
    fetch(inventory.files)
    for path in inventory.files:
        try:
            check_file(path, study, schema, inventory.manifest)
        except CorruptFileError as error:
            yield str(error)
    try:
        for _ in leftover_files(paths, inventory):
            pass
    except CorruptFileError as error:
        yield str(error)
