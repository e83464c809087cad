"""Parquet files of a few kilobytes that take hundreds of megabytes once they are decoded."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from orchestrator.results.trial_files.parquet_checksum import (
    CHECKSUM_METADATA,
)
from orchestrator.results.trial_files.parquet_checksum import (
    with_checksum as sealed,
)


def with_checksum(table: pa.Table, **options: object) -> bytes:
    """A table as podium seals it, however it is encoded."""
    buffer = io.BytesIO()
    with pq.ParquetWriter(buffer, table.schema, compression="zstd", **options) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata(CHECKSUM_METADATA)
    return sealed(buffer.getvalue())[0]


def many_details(table: pa.Table, column: str, count: int) -> pa.Table:
    """The first detail in a nested column, repeated."""
    details = table[column].combine_chunks().flatten().take(pa.array(np.zeros(count, np.int64)))
    lists = pa.ListArray.from_arrays(pa.array([0, count], pa.int32()), details)
    return _with(table, column, lists.cast(table.schema.field(column).type))


def long_texts(table: pa.Table, column: str, count: int, length: int) -> pa.Table:
    """A long text in every one of many details: Parquet holds it once, as a dictionary."""
    kind = table.schema.field(column).type
    name = next(part.name for part in kind.value_type if part.type == pa.string())
    empty = dict.fromkeys(part.name for part in kind.value_type)
    return _with(table, column, pa.array([[{**empty, name: "x" * length}] * count], kind))


def one_long_text(table: pa.Table, column: str, length: int) -> pa.Table:
    """A text of one letter repeated."""
    return _with(table, column, pa.array(["x" * length]))


def _with(table: pa.Table, column: str, values: pa.Array) -> pa.Table:
    place = table.column_names.index(column)
    return table.set_column(place, table.schema.field(column), values)
