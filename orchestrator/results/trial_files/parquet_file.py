"""Parquet as the store writes and reads it: compressed, and with a checksum of the whole file."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.files import read_bytes
from orchestrator.results.storage.local_copies import local_copy
from orchestrator.results.storage.locations import Place
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
from podium.errors import CorruptFileError

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
    return _encoded(table, 1, _OF_ONE_ROW)[0]


def encode_many(rows: pa.Table) -> tuple[bytes, str]:
    """Many rows as one Parquet file, whose row groups fit memory: its bytes and its SHA-256."""
    per_group = max(1, min(_MOST_ROWS, _GROUP_BYTES * rows.num_rows // max(1, rows.nbytes)))
    return _encoded(rows, per_group, _SETTINGS)


def _encoded(rows: pa.Table, per_group: int, settings: dict[str, object]) -> tuple[bytes, str]:
    buffer = pa.BufferOutputStream()
    with pq.ParquetWriter(buffer, rows.schema, **settings) as writer:
        writer.write_table(rows, row_group_size=per_group)
        writer.add_key_value_metadata(CHECKSUM_METADATA)
    return with_checksum(buffer.getvalue().to_pybytes())


class ParquetFile:
    """A Parquet file of the store, every byte of which was verified.

    Its bytes are in memory, compressed: nothing that happens to the file matters any more.

    Attributes:
        path: the file.
        schema: its columns.
        num_rows: number of its rows.
        decoded_bytes: bytes of memory of all columns, where a repeated text counts once.

    Raises:
        CorruptFileError: it is missing, truncated, or no Parquet file, it does not match its
            SHA-256, which the name of a gathered file repeats, or its rows would take more memory
            than trials can have.
        StoreError: it cannot be read.
    """

    def __init__(self, path: Place) -> None:
        self.path = path
        self._content = _content(path)
        checksum = verified_checksum(self._content, path)
        if StudyPaths.num_gathered(path) and f"-{checksum[:16]}." not in path.name:
            raise CorruptFileError(
                f"{path} was changed: its name belongs to other rows. Restore the original file"
            )
        with _parquet_errors(path):
            self._file = pq.ParquetFile(pa.BufferReader(self._content))
            self.schema: pa.Schema = self._file.schema_arrow
        metadata = self._file.metadata
        groups = range(metadata.num_row_groups)
        self.num_rows = sum(metadata.row_group(group).num_rows for group in groups)
        self.decoded_bytes = decoded_size(path, metadata, len(self._content))

    def groups(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """The row groups, one after the other.

        Args:
            columns: names of the columns that are wanted; None for all.

        Raises:
            CorruptFileError: a group cannot be decoded, or would take more memory than trials can
                have.
        """
        with _parquet_errors(self.path):
            for group in range(self._file.num_row_groups):
                self._check_texts(group, columns)
                yield self._file.read_row_group(group, columns=columns, use_threads=False)

    def _check_texts(self, group: int, columns: Sequence[str] | None) -> None:
        """Refuse texts that the file holds once and repeats so often that memory would not do."""
        num_bytes = len(self._content)
        names = [
            name
            for name in suspicious_texts(self._file.metadata, group, num_bytes)
            if columns is None or name in columns
        ]
        if names:
            once = pq.ParquetFile(pa.BufferReader(self._content), read_dictionary=names)
            texts = once.read_row_group(group, columns=names, use_threads=False)
            check_repeated_texts(self.path, texts, num_bytes)


def _content(path: Place) -> bytes:
    """The bytes of a file, of a remote one by its copy on this machine."""
    try:
        content = read_bytes(local_copy(path))
    except FileNotFoundError:
        content = None
    if content is None:
        raise CorruptFileError(f"{path} is missing")
    return content


@contextmanager
def _parquet_errors(path: Place) -> Iterator[None]:
    """Raise CorruptFileError for what pyarrow finds wrong with the bytes of a file."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise CorruptFileError(f"{path} is not a readable Parquet file: {error}") from error
