"""The file that keeps other programs out while a results folder holds trials twice.

Programs that read every ``*.parquet`` below a results folder know nothing of the manifest: while
files are replaced by others they would count trials twice. So long they meet a file that makes
them fail, with its name. No other module of podium reads it.
"""

import functools
import io

import pyarrow as pa
import pyarrow.parquet as pq

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import put


def mark_unfinished(paths: StudyPaths) -> None:
    """Keep other programs from reading the folder until `compaction.finish_compaction`.

    Raises:
        StoreError: the store cannot be written.
    """
    put(paths.unfinished_compaction, _unreadable(paths.unfinished_compaction.name))


@functools.cache
def _unreadable(name: str) -> bytes:
    """A Parquet file without rows that readers refuse by name.

    polars refuses two columns of one name, and shows the name; pyarrow refuses a schema of its own
    that is none, and shows the file's name. Over an empty file polars would pass, and of one that
    is no Parquet it would show no name.
    """
    schema = pa.schema([(f"compacted/{name}", pa.string())] * 2)
    buffer = io.BytesIO()
    with pq.ParquetWriter(buffer, schema, store_schema=False) as writer:
        writer.add_key_value_metadata({"ARROW:schema": "none"})
    return buffer.getvalue()
