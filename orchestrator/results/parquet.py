"""Parquet as the store writes and reads it: zstd, and a checksum on every page."""

import io
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from orchestrator.results.errors import CorruptFileError
from orchestrator.results.local_files import store_errors
from orchestrator.results.mirror import local_copy
from orchestrator.results.parquet_seal import SEAL_METADATA, check_seal, seal_file, sealed_bytes
from orchestrator.results.places import Place
from orchestrator.results.rows import check_columns

__all__ = ["encode", "is_sealed", "opened", "parquet_writer", "read_groups", "read_trials"]

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
    """
    try:
        return pq.ParquetFile(local_copy(path), page_checksum_verification=True)
    except (OSError, pa.ArrowException) as error:
        raise _corrupt(path, error) from error


def read_groups(path: Place, schema: pa.Schema) -> Iterator[pa.Table]:
    """The row groups of a file of a study, one after the other, every byte of it verified.

    Raises:
        CorruptFileError: it is missing, truncated or damaged, or has other columns than
            ``schema`` allows.
    """
    is_sealed(path)
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
    """
    wanted = pa.array(sorted(trial_ids), pa.string())
    with opened(path) as file:
        check_columns(path, file.schema_arrow, schema)
        for group in range(file.num_row_groups):
            ids = _read(file, path, group, ["trial_id"])["trial_id"]
            found = pc.indices_nonzero(pc.is_in(ids, wanted))
            if len(found):
                yield from _read(file, path, group).take(found).to_pylist()


def is_sealed(path: Place) -> bool:
    """Whether a file holds its own SHA-256; files of older versions of podium do not.

    Raises:
        CorruptFileError: it is missing, or does not fit its SHA-256.
        StoreError: it cannot be read.
    """
    with store_errors("read", path):
        try:
            return check_seal(local_copy(path))
        except FileNotFoundError as error:
            raise _corrupt(path, error) from error


def _read(
    file: pq.ParquetFile, path: Place, group: int, columns: list[str] | None = None
) -> pa.Table:
    try:
        return file.read_row_group(group, columns=columns, use_threads=False)
    except (OSError, pa.ArrowException) as error:
        raise _corrupt(path, error) from error


def _corrupt(path: Place, error: Exception) -> CorruptFileError:
    return CorruptFileError(f"{path} is not a readable Parquet file: {error}")
