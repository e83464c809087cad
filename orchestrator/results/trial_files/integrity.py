"""Checks that every committed trial can be read, and has the path that fits its row."""

from collections.abc import Sequence

import pyarrow as pa

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import read_schema, study_name
from orchestrator.results.storage.files import exists
from orchestrator.results.storage.local_copies import fetch
from orchestrator.results.storage.locations import Place
from orchestrator.results.trial_files.inventory import take_inventory
from orchestrator.results.trial_files.parquet_file import read_groups
from orchestrator.results.trial_files.row_checks import check_rows_fit_path
from podium.errors import CorruptFileError

_MAX_SHOWN = 10
IDENTITY = ["study", "search", "trial_id"]
"""Columns that say to which file a row belongs."""


def check_store(paths: StudyPaths) -> int:
    """Verify the bytes of every committed trial; returns how many there are.

    No more is decoded than which trials the files hold.

    Raises:
        CorruptFileError: files are truncated, damaged, foreign, or do not hold what their path
            says; each is named, up to ten.
        PodiumError: it is not a results folder.
    """
    inventory = take_inventory(paths)
    study, schema = study_name(paths), read_schema(paths)
    fetch(inventory.files)
    problems = []
    for path in inventory.files:
        try:
            check_file(path, study, schema, IDENTITY)
        except CorruptFileError as error:
            if exists(path):  # else its rows were gathered meanwhile
                problems.append(str(error))
    if problems:
        rest = len(problems) - _MAX_SHOWN
        more = [f"and {rest} more files"] if rest > 0 else []
        raise CorruptFileError("\n".join([*problems[:_MAX_SHOWN], *more]))
    return inventory.num_trials


def check_file(
    path: Place, study: str, schema: pa.Schema, columns: Sequence[str] | None = None
) -> None:
    """Verify every byte of one file of the store, and that it holds the rows it should.

    Args:
        path: the file.
        study: name of the study that it must belong to.
        schema: schema of the study.
        columns: those that are decoded, `IDENTITY` among them; None for all.

    Raises:
        CorruptFileError: anything is wrong with it.
    """
    groups = [group.select(IDENTITY) for group in read_groups(path, schema, columns)]
    if not groups:
        raise CorruptFileError(f"{path} holds no rows")
    check_rows_fit_path(path, pa.concat_tables(groups), study)
