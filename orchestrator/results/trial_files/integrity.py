"""Checks that every committed trial can be read, and has the path that fits its row."""

import pyarrow as pa
import pyarrow.compute as pc

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import read_schema, study_name
from orchestrator.results.storage.files import exists
from orchestrator.results.storage.local_copies import fetch
from orchestrator.results.storage.locations import Place
from orchestrator.results.trial_files.inventory import Inventory, take_inventory
from orchestrator.results.trial_files.parquet_file import ParquetFile
from podium.errors import CorruptFileError

_MAX_SHOWN = 10
_IDENTITY = ["study", "search", "trial_id"]  # they say to which file a row belongs


def check_store(paths: StudyPaths) -> int:
    """Verify the bytes of every committed trial; returns how many there are.

    Raises:
        CorruptFileError: naming `bad_files`, up to ten.
        PodiumError: it is not a results folder.
    """
    inventory = take_inventory(paths)
    problems = bad_files(paths, inventory)
    if problems:
        rest = len(problems) - _MAX_SHOWN
        more = [f"and {rest} more files"] if rest > 0 else []
        raise CorruptFileError("\n".join([*problems[:_MAX_SHOWN], *more]))
    return inventory.num_trials


def bad_files(paths: StudyPaths, inventory: Inventory) -> list[str]:
    """What is wrong with files that are truncated, damaged, foreign, or do not fit their path.

    No more is decoded than which trials the files hold. Files with rows that are in others count,
    too, since plain readers read them.
    """
    study, schema = study_name(paths), read_schema(paths)
    files = (*inventory.files, *inventory.superseded)
    fetch(files)
    problems = []
    for path in files:
        try:
            open_trials(path, schema, study)
        except CorruptFileError as error:
            if exists(path):  # else its rows were gathered meanwhile
                problems.append(str(error))
    return problems


def open_trials(path: Place, schema: pa.Schema, study: str) -> ParquetFile:
    """A file of a study's trials: its bytes were verified, and that it holds the rows it should.

    Args:
        path: the file.
        schema: columns of the study's trials.
        study: name of the study.

    Raises:
        CorruptFileError: anything is wrong with it.
        StoreError: it cannot be read.
    """
    file = ParquetFile(path)
    _check_columns(file, schema)
    count = StudyPaths.num_gathered(path)
    if file.num_rows != (count or 1):
        raise CorruptFileError(f"{path} must hold {count or 1} rows, it has {file.num_rows}")
    rows = pa.concat_tables(file.groups(_IDENTITY))
    expected = {"study": study, "search": StudyPaths.search_of(path)}
    if not count:
        expected["trial_id"] = path.stem
    for name, value in expected.items():
        for found in pc.unique(rows.column(name)).to_pylist():
            if found != value:
                raise CorruptFileError(
                    f"{path} holds a row with {name} {found!r}; at that path it must be {value!r}"
                )
    if pc.count_distinct(rows.column("trial_id"), mode="all").as_py() != rows.num_rows:
        raise CorruptFileError(f"{path} holds a trial twice. Restore the original file")
    return file


def _check_columns(file: ParquetFile, schema: pa.Schema) -> None:
    """Refuse a file whose columns are not those of the study.

    Hyperparameters may be missing: the study may have gained them after the file was written.
    """
    if file.schema.equals(schema):  # as nearly all files: to look at each column takes long
        return
    for column in file.schema:
        if column.name not in schema.names:
            raise CorruptFileError(
                f"{file.path} has the column {column.name!r}, unknown to its study"
            )
        expected = schema.field(column.name).type
        if column.type != expected:
            raise CorruptFileError(
                f"{file.path}: column {column.name!r} is {column.type}, its study says {expected}"
            )
    for name in schema.names:
        if name not in file.schema.names and not name.startswith("hp."):
            raise CorruptFileError(f"{file.path} lacks the column {name!r}")
