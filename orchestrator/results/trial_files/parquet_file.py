"""Parquet as the store writes and reads it: compressed, with a SHA-256 of the whole file in it.

Parquet's own checksums cover pages, not their headers and not the footer, where a flipped bit can
change what is read unnoticed. So the footer gets a key ``podium_seal``: the hash of all bytes,
taken with zeros in its place.
"""

import hashlib
from collections.abc import Sequence

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from podium.errors import CorruptFileError, UnreachableError
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.files import read_whole
from podium.orchestrator.results.storage.local_copies import local_copies, local_copy
from podium.orchestrator.results.storage.locations import Place
from podium.orchestrator.results.storage.transient_errors import with_retries

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

_PREFIX = b"sha256:"
_ZEROS = b"0" * (2 * hashlib.sha256().digest_size)
SEAL = {"podium_seal": (_PREFIX + _ZEROS).decode()}
"""Key and placeholder that a Parquet file must have in its footer to be sealed."""

FILE = "file of the row"


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
        writer.add_key_value_metadata(SEAL)
    return sealed(buffer.getvalue().to_pybytes())


def sealed(data: bytes) -> tuple[bytes, str]:
    """The bytes of a Parquet file that has `SEAL`, with their SHA-256 filled in, and that."""
    before, _, after = data.rpartition(_PREFIX + _ZEROS)
    found = hashlib.sha256(data).hexdigest()
    return b"".join((before, _PREFIX, found.encode(), after)), found


def verified(path: Place) -> bytes:
    """The content of a Parquet file of the store, every byte of which was verified.

    Raises:
        CorruptFileError: it is missing, truncated, or no Parquet file, or it does not match its
            SHA-256, which the name of a gathered file repeats.
        StoreError: it cannot be read.
    """
    content = read_whole(local_copy(path), path)
    start = content.rfind(_PREFIX) + len(_PREFIX)  # the footer is at the end of the file
    if start < len(_PREFIX):
        raise CorruptFileError(
            f"{path} is not a readable Parquet file of podium: it does not end with its SHA-256."
            " Restore the original file"
        )
    end, whole = start + len(_ZEROS), memoryview(content)
    state = hashlib.sha256(whole[:start])
    state.update(_ZEROS)
    state.update(whole[end:])
    checksum = state.hexdigest()
    if checksum.encode() != content[start:end]:
        raise CorruptFileError(
            f"{path} is damaged: its content does not match its SHA-256. Restore the original file"
        )
    if StudyPaths.num_gathered(path) and f"-{checksum[:16]}." not in path.name:
        raise CorruptFileError(
            f"{path} was changed: its name belongs to other rows. Restore the original file"
        )
    return content


def schema_of(content: bytes, path: Place) -> pa.Schema:
    """The columns of a verified file; CorruptFileError if its footer is none of Parquet's."""
    try:
        return pq.read_schema(pa.BufferReader(content))
    except (OSError, pa.ArrowException) as error:
        raise CorruptFileError(f"{path} is not a readable Parquet file: {error}") from error


def schema_bytes(content: bytes) -> bytes:
    """The bytes of a footer that say which columns there are: equal ones, equal columns.

    They are compared since decoding a footer takes longer than reading a row does.
    """
    return content[content.rfind(b"ARROW:schema") : -8]


def scan(files: Sequence[Place], schema: pa.Schema | pl.Schema) -> pl.LazyFrame:
    """The rows of files that were verified, in their order, with the columns of a schema.

    Those that a file lacks are null, others are left out. Besides each row has the path of its
    file on this machine, as `FILE`.
    """
    if not files:
        return pl.LazyFrame(schema={**pl.Schema(schema), FILE: pl.String})
    return pl.scan_parquet(
        local_copies(files),
        schema=pl.Schema(schema),
        missing_columns="insert",
        extra_columns="ignore",
        include_file_paths=FILE,
        hive_partitioning=False,
        glob=False,
    )


def collect(rows: pl.LazyFrame, place: object, *, in_parts: bool = False) -> pl.DataFrame:
    """The rows of a query on `scan`, which is repeated where the store does not answer.

    In parts, a few row groups are in memory at a time, and rows come in no order.

    Raises:
        UnreachableError: the store did not answer for too long.
        FileNotFoundError: a file is missing.
        PolarsError: the query is wrong, or a file does not hold what its footer says.
    """

    def collected() -> pl.DataFrame:
        try:
            return rows.collect(engine="streaming" if in_parts else "auto")
        except FileNotFoundError:
            raise
        except OSError as error:
            raise UnreachableError(f"cannot read {place}: {error}") from error

    return with_retries(collected)
