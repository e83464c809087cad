"""Parquet as the store writes and reads it: zstd, and a checksum on every page."""

import io
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from orchestrator.results.errors import CorruptFileError, UnreachableError
from orchestrator.results.storage.local_copies import local_copy
from orchestrator.results.storage.local_files import store_errors
from orchestrator.results.storage.locations import Place
from orchestrator.results.storage.transient_errors import patiently
from orchestrator.results.trial_files.parquet_checksum import (
    SEAL_METADATA,
    check_seal,
    seal_file,
    sealed_bytes,
)
from orchestrator.results.trial_files.row_checks import check_columns

__all__ = [
    "encode",
    "is_sealed",
    "opened",
    "parquet_writer",
    "read_column",
    "read_groups",
    "read_trials",
]

_SETTINGS = {"compression": "zstd", "write_page_checksum": True}


def encode(table: pa.Table) -> bytes:
    """A table of one row as the bytes of one Parquet file."""
    buffer = io.BytesIO()
    # Dictionaries and statistics cost time and bytes in every column, and tell nothing of one row.
    flat = {"use_dictionary": False, "write_statistics": False}
    with pq.ParquetWriter(buffer, table.schema, **flat, **_SETTINGS) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata(SEAL_METADATA)
    return sealed_bytes(buffer.getvalue())


@contextmanager
def parquet_writer(file: BinaryIO, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    """Writes tables of ``schema`` into an open file, each as a row group of its own.

    When the block ends without an exception the file is finished and sealed.
    """
    with pq.ParquetWriter(file, schema, **_SETTINGS) as writer:
        yield writer
        writer.add_key_value_metadata(SEAL_METADATA)
    seal_file(file)


def opened(path: Place) -> pq.ParquetFile:
    """An open Parquet file; only its footer is read. Close it, or use it as a context.

    Of a remote file, a copy on this machine is opened.

    Raises:
        CorruptFileError: it is missing, truncated, or no Parquet file.
        StoreError: it cannot be read.
    """
    return patiently(partial(_open, path, _here(path)))


def read_groups(path: Place, schema: pa.Schema) -> Iterator[pa.Table]:
    """The row groups of a file of a study, one after the other, every byte of it verified.

    Raises:
        CorruptFileError: it is missing, truncated or damaged, or has other columns than
            ``schema`` allows.
        StoreError: it cannot be read.
    """
    is_sealed(path)  # raises if it does not fit its seal
    with opened(path) as file:
        check_columns(path, file.schema_arrow, schema)
        for group in range(file.num_row_groups):
            yield _read(file, path, group)


def read_trials(
    path: Place, schema: pa.Schema, trial_ids: Collection[str]
) -> Iterator[dict[str, Any]]:
    """Rows of a file of a study; of row groups without any of the trials only ids are read.

    Raises:
        CorruptFileError: as `read_groups`.
        StoreError: it cannot be read.
    """
    wanted = pa.array(sorted(trial_ids), pa.string())
    with opened(path) as file:
        check_columns(path, file.schema_arrow, schema)
        for group in range(file.num_row_groups):
            ids = _read(file, path, group, ["trial_id"])["trial_id"]
            found = pc.indices_nonzero(pc.is_in(ids, wanted))
            if len(found):
                yield from _read(file, path, group).take(found).to_pylist()


def read_column(path: Place, name: str) -> Iterator[Any]:
    """The values of one column, of a file whose other columns do not matter.

    Raises:
        CorruptFileError: it is missing, truncated or damaged, or has no such column.
        StoreError: it cannot be read.
    """
    with opened(path) as file:
        if name not in file.schema_arrow.names:
            raise CorruptFileError(f"{path} lacks the column {name!r}")
        for group in range(file.num_row_groups):
            yield from _read(file, path, group, [name])[name].to_pylist()


def is_sealed(path: Place) -> bool:
    """Whether a file holds its own SHA-256; files of older versions of podium do not.

    Raises:
        CorruptFileError: it is missing, or does not fit its SHA-256.
        StoreError: it cannot be read.
    """
    return patiently(partial(_check_seal, path, _here(path)))


def _here(path: Place) -> Path:
    """On this machine; what fetches it is patient by itself."""
    with _faults(path):
        return local_copy(path)


def _check_seal(path: Place, copy: Path) -> bool:
    with _faults(path):
        return check_seal(copy, path)


def _open(path: Place, copy: Path) -> pq.ParquetFile:
    with _faults(path):
        return pq.ParquetFile(copy, page_checksum_verification=True)


def _read(
    file: pq.ParquetFile, path: Place, group: int, columns: list[str] | None = None
) -> pa.Table:
    try:
        return _read_once(file, path, group, columns)
    except UnreachableError:
        return patiently(partial(_read_anew, path, group, columns))


def _read_anew(path: Place, group: int, columns: list[str] | None) -> pa.Table:
    """By another handle: one that went stale stays so."""
    with _open(path, _here(path)) as file:
        return _read_once(file, path, group, columns)


def _read_once(
    file: pq.ParquetFile, path: Place, group: int, columns: list[str] | None
) -> pa.Table:
    with _faults(path):
        return file.read_row_group(group, columns=columns, use_threads=False)


@contextmanager
def _faults(path: Place) -> Iterator[None]:
    """What is wrong with a file is a CorruptFileError, what keeps it from being read is none.

    The errors of the system have numbers, those that pyarrow finds in the file have not.
    """
    with store_errors("read", path):
        try:
            yield
        except (OSError, pa.ArrowException) as error:
            number = getattr(error, "errno", None)
            if number is None or isinstance(error, FileNotFoundError):
                raise CorruptFileError(
                    f"{path} is not a readable Parquet file: {error}"
                ) from error
            raise
