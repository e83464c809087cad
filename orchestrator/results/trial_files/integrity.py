"""Checks that every committed trial can be read, and has the path that fits its row."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
import polars as pl
import pyarrow as pa

from podium.errors import CorruptFileError
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import Store, read_store
from podium.orchestrator.results.storage.files import exists
from podium.orchestrator.results.storage.local_copies import local_copies
from podium.orchestrator.results.storage.locations import Place
from podium.orchestrator.results.trial_files.inventory import (
    needed_files,
    num_trials,
    trial_files,
)
from podium.orchestrator.results.trial_files.parquet_file import ParquetFile, collect, scan

_MAX_SHOWN = 10
_IDENTITY = ("study", "search", "trial_id")  # they say to which file a row belongs


def check_store(paths: StudyPaths) -> int:
    """Verify the bytes of every committed trial; returns how many there are.

    Raises:
        CorruptFileError: naming `bad_files`, up to ten.
        PodiumError: it is not a results folder.
    """
    files = trial_files(paths)
    needed = needed_files(files)
    if problems := bad_files(files, read_store(paths)):
        rest = len(problems) - _MAX_SHOWN
        more = [f"and {rest} more files"] if rest > 0 else []
        raise CorruptFileError("\n".join([*problems[:_MAX_SHOWN], *more]))
    return num_trials(chain.from_iterable(needed.values()))


def bad_files(files: Sequence[Place], store: Store) -> list[str]:
    """What is wrong with files that are truncated, damaged, foreign, or do not fit their path.

    No more is decoded than which trials the files hold. Files with rows that are in others count,
    too, since plain readers read them.
    """
    local_copies(files)  # several at once
    problems = []
    for path in files:
        try:
            open_rows([path], store)
        except CorruptFileError as error:
            if exists(path):  # else its rows were gathered meanwhile
                problems.append(str(error))
    return problems


def open_rows(
    files: Sequence[Place], store: Store, columns: Sequence[str] = _IDENTITY
) -> pl.DataFrame:
    """The rows of a study's files, in order, after all checks of both.

    Args:
        files: the files.
        store: whose files they must be.
        columns: columns of the rows, `_IDENTITY` among them.

    Raises:
        CorruptFileError: anything is wrong with one of them.
        StoreError: one cannot be read.
    """
    opened = [_opened(file, store.schema) for file in files]
    try:
        rows = collect(scan(files, store.schema).select(columns), f"the trials of {store.study}")
    except (OSError, pl.exceptions.PolarsError) as error:
        if len(files) == 1:
            raise CorruptFileError(f"{files[0]} cannot be decoded: {error}") from error
        for file in files:
            open_rows([file], store, columns)
        raise
    _check_places(opened, rows, store.study)
    return rows


def _opened(path: Place, schema: pa.Schema) -> ParquetFile:
    file = ParquetFile(path)
    _check_columns(file, schema)
    count = StudyPaths.num_gathered(path) or 1
    if file.num_rows != count:
        raise CorruptFileError(f"{path} must hold {count} rows, it has {file.num_rows}")
    return file


def _check_places(opened: Sequence[ParquetFile], rows: pl.DataFrame, study: str) -> None:
    """Refuse rows of another study, search or trial than their files say, and equal ones."""
    paths = [file.path for file in opened]
    file_of = np.repeat(np.arange(len(paths)), [file.num_rows for file in opened])
    expected: dict[str, list[str | None]] = {
        "study": [study] * len(paths),
        "search": [StudyPaths.search_of(path) for path in paths],
        "trial_id": [None if StudyPaths.num_gathered(path) else path.stem for path in paths],
    }
    for name, values in expected.items():
        wanted = pl.Series(values, dtype=pl.String)[file_of]
        for at in (rows[name].ne_missing(wanted) & wanted.is_not_null()).arg_true().head(1):
            raise CorruptFileError(
                f"{paths[file_of[at]]} holds a row with {name} {rows[name][at]!r}; at that path it"
                f" must be {wanted[at]!r}"
            )
    for at in rows.select("search", "trial_id").is_duplicated().arg_true().head(1):
        raise CorruptFileError(
            f"{paths[file_of[at]]} holds a trial twice. Restore the original file"
        )


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
