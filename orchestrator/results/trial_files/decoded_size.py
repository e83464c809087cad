"""How much memory the columns of a Parquet file take, known before anything is decoded.

A few bytes of Parquet can stand for gigabytes: repeated values are stored once. Results come from
anywhere, so what a file says of itself in its footer is compared with its size, and a file that
would grow beyond what trials can be is not decoded.

Measured on class hits that never change from epoch to epoch: 32 times the size of a trial's own
file, 940 times that of a gathered one; of hits that do change, 33 and 64 times. All other
columns of the quickstart: 0.6 times the size of a trial's own file, 4 times that of its gathered
one.
"""

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from orchestrator.results.storage.locations import Place
from podium.errors import CorruptFileError

_EXPANSION = 2_000  # of nested details
_FLAT_EXPANSION = 200  # of all other columns, which are read of many trials together
# Details of a trial: hits of 11,316 classes in a thousand epochs take 440 MB.
_TRIAL_BYTES = 512 * 2**20

_TEXT = 16  # bytes of a flat value at most, and of a text besides its letters
_NESTED = 12  # bytes of a nested value, with those that say where it belongs


def decoded_size(path: Place, metadata: pq.FileMetaData, file_bytes: int) -> int:
    """Bytes of memory of all columns of a file, where a text that is repeated counts once.

    Args:
        path: path of the file, for messages.
        metadata: footer of the file.
        file_bytes: size of the file.

    Raises:
        CorruptFileError: they are more than trials can have.
    """
    flat = nested = 0
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        flat += group.num_rows * group.num_columns * _TEXT + group.total_byte_size
        counts = (group.column(index).num_values for index in range(group.num_columns))
        nested += _NESTED * sum(count for count in counts if count > group.num_rows)
    most = min(_EXPANSION * file_bytes, max(1, metadata.num_rows) * _TRIAL_BYTES)
    _check(path, flat, _FLAT_EXPANSION * file_bytes)
    _check(path, flat + nested, most)
    return int(flat + nested)


def suspicious_texts(metadata: pq.FileMetaData, group: int, file_bytes: int) -> list[str]:
    """Paths of columns in which so long a text may be repeated so often that it matters."""
    row_group = metadata.row_group(group)
    return [
        chunk.path_in_schema
        for chunk in map(row_group.column, range(row_group.num_columns))
        if chunk.physical_type == "BYTE_ARRAY"
        and chunk.has_dictionary_page
        and chunk.num_values * chunk.total_uncompressed_size > _EXPANSION * file_bytes
    ]


def check_repeated_texts(path: Place, texts: pa.Table, file_bytes: int) -> None:
    """Refuse texts that take more memory than trials can have, once each is written out.

    Args:
        path: path of their file, for messages.
        texts: columns of `suspicious_texts`, as dictionaries.
        file_bytes: size of their file.

    Raises:
        CorruptFileError: they do.
    """
    written_out = sum(_written_out(chunk) for column in texts.columns for chunk in column.chunks)
    _check(path, written_out, _EXPANSION * file_bytes)


def _check(path: Place, decoded: int, most: int) -> None:
    if decoded > most:
        raise CorruptFileError(
            f"{path} is not read: its rows would take {decoded / 1e6:,.1f} MB of memory; those of"
            f" a file of its size take at most {most / 1e6:,.1f} MB. No version of podium wrote"
            " it: move it away, or restore the original file"
        )


def _written_out(values: pa.Array) -> int:
    """Bytes of the texts of a column, however deep they lie in lists."""
    if pa.types.is_list(values.type):
        return _written_out(values.flatten())
    if pa.types.is_struct(values.type):
        return sum(_written_out(part) for part in values.flatten())
    lengths = pc.binary_length(values.dictionary).take(values.indices)
    return int(pc.sum(lengths).as_py() or 0)
