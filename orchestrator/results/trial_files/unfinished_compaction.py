"""Files that keep other programs out while a results folder holds trials twice.

Programs that read every ``*.parquet`` below a results folder know nothing of the manifest: while
files are replaced by others they would count trials twice. So long they meet a file that makes
them fail, with its name: the first of all, since what a program opens first it names best.

To list a folder takes a while, and in a bucket many requests, between which files may be replaced.
Names come in order: trials of their own before segments, a segment before the one that replaces
it, whose number is larger, and then such files again. So who comes to the name of a file when it
is deleted comes to what replaced it afterwards; and who has seen both, but none of these files,
opens one that is deleted by then, which is an error as well.
"""

import io
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import put, remove
from orchestrator.results.storage.locations import Place


def mark_unfinished(paths: StudyPaths) -> None:
    """Keep other programs from reading the folder until `unmark`.

    Raises:
        StoreError: the store cannot be written.
    """
    for file in marks(paths):
        is_empty = file == paths.last_without_columns
        put(file, _parquet([] if is_empty else [f"{file.parent.name}/{file.name}"] * 2))


def unmark(paths: StudyPaths) -> None:
    """Let other programs read the folder again: no trial is there twice.

    Raises:
        StoreError: the store cannot be written.
    """
    for file in reversed(marks(paths)):
        remove(file)


def marks(paths: StudyPaths) -> tuple[Place, ...]:
    """The files in the order in which they are put; the first is there whenever another is."""
    return paths.unfinished_compaction, paths.last_of_segments, paths.last_without_columns


def _parquet(names: Sequence[str]) -> bytes:
    """A Parquet file without rows that readers refuse by name.

    polars refuses two columns of one name, and shows the name; pyarrow refuses a schema of its own
    that is none, and shows the file's name. DuckDB takes both, but no file without columns, over
    which polars would pass. Of one that is no Parquet polars would show no name.
    """
    buffer = io.BytesIO()
    schema = pa.schema([(name, pa.string()) for name in names])
    with pq.ParquetWriter(buffer, schema, store_schema=False) as writer:
        writer.add_key_value_metadata({"ARROW:schema": "none"})
    return buffer.getvalue()
