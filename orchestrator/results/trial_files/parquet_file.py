"""Parquet as the store writes and reads it: compressed, and a checksum on every page."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.local_copies import local_copy
from orchestrator.results.storage.local_files import store_errors
from orchestrator.results.storage.locations import Place
from orchestrator.results.storage.transient_errors import with_retries
from orchestrator.results.trial_files.decoded_size import (
    check_repeated_texts,
    decoded_size,
    suspicious_texts,
)
from orchestrator.results.trial_files.parquet_checksum import (
    CHECKSUM_METADATA,
    verified_checksum,
    with_checksum,
)
from orchestrator.results.trial_files.row_checks import check_columns
from podium.errors import CorruptFileError, UnreachableError

_SETTINGS = {"compression": "zstd", "write_page_checksum": True}
# Of one row each column is a page of its own, so what counts is how fast a page is begun; footers
# are most of the file. Dictionaries and statistics say nothing of one row.
_OF_ONE_ROW = {
    **_SETTINGS,
    "compression": "lz4",
    "use_dictionary": False,
    "write_statistics": False,
}

# Of each group the footer has 14 kB, which every reader decodes.
_MOST_ROWS, _GROUP_BYTES = 4096, 2**24


def encode(table: pa.Table) -> bytes:
    """A table of one row as the bytes of one Parquet file."""
    buffer = pa.BufferOutputStream()
    with pq.ParquetWriter(buffer, table.schema, **_OF_ONE_ROW) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata(CHECKSUM_METADATA)
    return with_checksum(buffer.getvalue().to_pybytes())[0]


def encode_many(rows: pa.Table) -> tuple[bytes, str]:
    """Many rows as one Parquet file, whose row groups fit memory: its bytes and its SHA-256."""
    buffer = pa.BufferOutputStream()
    per_group = max(1, min(_MOST_ROWS, _GROUP_BYTES * rows.num_rows // max(1, rows.nbytes)))
    with pq.ParquetWriter(buffer, rows.schema, **_SETTINGS) as writer:
        writer.write_table(rows, row_group_size=per_group)
        writer.add_key_value_metadata(CHECKSUM_METADATA)
    return with_checksum(buffer.getvalue().to_pybytes())


def open_parquet(path: Place) -> pq.ParquetFile:
    """An open Parquet file; only its footer is read. Close it, or use it as a context.

    Of a remote file, a copy on this machine is opened.

    Raises:
        CorruptFileError: it is missing, truncated, or no Parquet file, or its rows would take more
            memory than trials can have.
        StoreError: it cannot be read.
    """
    return with_retries(partial(_open, path, _local(path)))


def check_footer(path: Place, schema: pa.Schema) -> int:
    """Bytes of memory of all columns of a file of a study, where a repeated text counts once.

    Raises:
        CorruptFileError: as `open_parquet`, or it lacks columns that ``schema`` demands.
        StoreError: it cannot be read.
    """
    return with_retries(partial(_check_footer, path, _local(path), schema))


def read_groups(
    path: Place, schema: pa.Schema, columns: Sequence[str] | None = None
) -> Iterator[pa.Table]:
    """The row groups of a file of a study, one after the other, every byte of it verified.

    Args:
        path: the file.
        schema: columns of the study.
        columns: those that are wanted; None for all.

    Raises:
        CorruptFileError: it is missing, truncated or damaged, or has other columns than
            ``schema`` allows.
        StoreError: it cannot be read.
    """
    check_bytes(path)
    names = None if columns is None else list(columns)
    with open_parquet(path) as file:
        check_columns(path, file.schema_arrow, schema)
        for group in range(file.num_row_groups):
            yield _read(file, path, group, names)


def read_trials(
    path: Place, schema: pa.Schema, trial_ids: Collection[str]
) -> Iterator[dict[str, Any]]:
    """Rows of a file of a study; of row groups without any of the trials only ids are read.

    Raises:
        CorruptFileError: as `read_groups`.
        StoreError: it cannot be read.
    """
    wanted = pa.array(sorted(trial_ids), pa.string())
    with open_parquet(path) as file:
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
    with open_parquet(path) as file:
        if name not in file.schema_arrow.names:
            raise CorruptFileError(f"{path} lacks the column {name!r}")
        for group in range(file.num_row_groups):
            yield from _read(file, path, group, [name])[name].to_pylist()


def check_bytes(path: Place) -> None:
    """Refuse a file that does not match its SHA-256, which the name of a gathered file repeats.

    Raises:
        CorruptFileError: it is missing, or does not match.
        StoreError: it cannot be read.
    """
    found = with_retries(partial(_verified_checksum, path, _local(path)))
    if StudyPaths.num_gathered(path) and f"-{found[:16]}." not in path.name:
        raise CorruptFileError(
            f"{path} was changed: its name belongs to other rows. Restore the original file"
        )


def _local(path: Place) -> Path:
    """The file, or a copy of it on this machine; fetching it retries by itself."""
    with _file_errors(path):
        return local_copy(path)


def _check_footer(path: Place, copy: Path, schema: pa.Schema) -> int:
    with _file_errors(path):
        metadata = pq.read_metadata(copy)
        if metadata.num_columns < sum(_num_values(column.type) for column in schema):
            check_columns(path, metadata.schema.to_arrow_schema(), schema)
        return decoded_size(path, metadata, copy.stat().st_size)


def _num_values(kind: pa.DataType) -> int:
    """How many columns of Parquet hold a column of a table: one for each value in a nested row."""
    if pa.types.is_list(kind):
        return _num_values(kind.value_type)
    return sum(_num_values(part.type) for part in kind) if pa.types.is_struct(kind) else 1


def _verified_checksum(path: Place, copy: Path) -> str:
    with _file_errors(path):
        return verified_checksum(copy, path)


def _open(path: Place, copy: Path) -> pq.ParquetFile:
    with _file_errors(path):
        file = pq.ParquetFile(copy, page_checksum_verification=True)
        decoded_size(path, file.metadata, copy.stat().st_size)  # raises if that is too much
        return file


def _read(
    file: pq.ParquetFile, path: Place, group: int, columns: list[str] | None = None
) -> pa.Table:
    try:
        return _read_once(file, path, group, columns)
    except UnreachableError:
        return with_retries(partial(_reread, path, group, columns))


def _reread(path: Place, group: int, columns: list[str] | None) -> pa.Table:
    """Read by a new handle: one that went stale stays so."""
    with _open(path, _local(path)) as file:
        return _read_once(file, path, group, columns)


def _read_once(
    file: pq.ParquetFile, path: Place, group: int, columns: list[str] | None
) -> pa.Table:
    with _file_errors(path):
        _check_texts(file, path, group, columns)
        return file.read_row_group(group, columns=columns, use_threads=False)


def _check_texts(file: pq.ParquetFile, path: Place, group: int, columns: list[str] | None) -> None:
    """Refuse texts that the file holds once and repeats so often that memory would not do."""
    copy = _local(path)
    file_bytes = copy.stat().st_size
    names = [
        name
        for name in suspicious_texts(file.metadata, group, file_bytes)
        if columns is None or name in columns
    ]
    if names:
        with pq.ParquetFile(copy, read_dictionary=names) as once:
            texts = once.read_row_group(group, columns=names, use_threads=False)
        check_repeated_texts(path, texts, file_bytes)


@contextmanager
def _file_errors(path: Place) -> Iterator[None]:
    """Raise CorruptFileError for what is wrong with a file, StoreError if it cannot be read.

    Errors of the system have numbers; errors that pyarrow finds in the file do not.
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
