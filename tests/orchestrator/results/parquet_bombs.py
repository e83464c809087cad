"""Parquet files of a few kilobytes that take hundreds of megabytes once they are decoded."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from podium.orchestrator.results.trial_files.parquet_file import SEAL, sealed


def with_checksum(table: pa.Table, **options: object) -> bytes:
    """A table as podium seals it, however it is encoded."""
    buffer = io.BytesIO()
    with pq.ParquetWriter(buffer, table.schema, compression="zstd", **options) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata(SEAL)
    return sealed(buffer.getvalue())[0]


def many_details(table: pa.Table, column: str, count: int) -> pa.Table:
    """The first detail in a nested column, repeated."""
    details = table[column].combine_chunks().flatten().take(pa.array(np.zeros(count, np.int64)))
    lists = pa.ListArray.from_arrays(pa.array([0, count], pa.int32()), details)
    place, field = table.column_names.index(column), table.schema.field(column)
    return table.set_column(place, field, lists.cast(field.type))
