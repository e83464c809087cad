"""Parquet as the store writes and reads it: zstd, and a checksum on every page."""

import io
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from orchestrator.results.errors import CorruptFileError

__all__ = ["encode", "opened", "parquet_writer", "read_group"]


def encode(table: pa.Table) -> bytes:
    """A table as the bytes of one Parquet file."""
    buffer = io.BytesIO()
    with parquet_writer(buffer, table.schema) as writer:
        writer.write_table(table)
    return buffer.getvalue()


def parquet_writer(file: BinaryIO, schema: pa.Schema) -> pq.ParquetWriter:
    """Writes tables of ``schema`` into an open file, each as a row group of its own."""
    return pq.ParquetWriter(file, schema, compression="zstd", write_page_checksum=True)


def opened(path: Path) -> pq.ParquetFile:
    """An open Parquet file; only its footer is read. Close it, or use it as a context.

    Raises:
        CorruptFileError: it is missing, truncated, or no Parquet file.
    """
    try:
        return pq.ParquetFile(path, page_checksum_verification=True)
    except (OSError, pa.ArrowException) as error:
        raise _corrupt(path, error) from error


def read_group(file: pq.ParquetFile, path: Path, group: int) -> pa.Table:
    """One row group, its checksums verified.

    Raises:
        CorruptFileError: the content is damaged.
    """
    try:
        return file.read_row_group(group)
    except (OSError, pa.ArrowException) as error:
        raise _corrupt(path, error) from error


def _corrupt(path: Path, error: Exception) -> CorruptFileError:
    return CorruptFileError(f"{path} is not a readable Parquet file: {error}")
