"""A SHA-256 of a whole Parquet file, within the file.

Parquet's own checksums cover pages, not their headers and not the footer, where a flipped bit can
change what is read unnoticed. So the footer gets a key ``podium_seal``: the hash of all bytes,
taken with zeros in its place.
"""

import hashlib
import os
import re
from pathlib import Path
from typing import BinaryIO

from orchestrator.results.storage.locations import Place
from podium.errors import CorruptFileError

_KEY, _PREFIX = b"podium_seal", b"sha256:"
_ZEROS = b"0" * (2 * hashlib.sha256().digest_size)
CHECKSUM_METADATA = {_KEY.decode(): (_PREFIX + _ZEROS).decode()}
"""Key and placeholder that a Parquet file must have in its footer to get a checksum."""

# Key and value are texts, each with a length before it. Damage can hit one of both, not both.
_CHECKSUM = re.compile(re.escape(_KEY) + rb"..?" + _PREFIX + rb"([0-9a-f]{64})", re.DOTALL)
_TRACE = re.compile(re.escape(_KEY) + rb"|" + _PREFIX + rb"[0-9a-f]{64}")
_CHUNK_BYTES = 1 << 20
_LENGTH_BYTES, _MAGIC = 4, b"PAR1"  # the last bytes of a file: how long its footer is, and these


def with_checksum(data: bytes) -> tuple[bytes, str]:
    """The bytes of a Parquet file with `CHECKSUM_METADATA`, its checksum filled in, and that."""
    offset = data.rindex(_PREFIX + _ZEROS) + len(_PREFIX)
    found = hashlib.sha256(data).hexdigest()
    return data[:offset] + found.encode() + data[offset + len(_ZEROS) :], found


def verified_checksum(copy: Path, path: Place) -> str:
    """The checksum that a file holds and matches, in hexadecimal digits.

    Args:
        copy: the file, or a copy of it on this machine.
        path: path of the file, for messages.

    Raises:
        CorruptFileError: the file has no checksum, or does not match it.
        OSError: the file cannot be read.
    """
    with copy.open("rb") as file:
        start, footer = _footer(file)
        first = footer.find(_KEY)  # of a long footer, a pattern alone takes ten times as long
        found = _CHECKSUM.search(footer, first) if first >= 0 else None
        if found is None and _TRACE.search(footer) is None:
            raise CorruptFileError(
                f"{path} is not a readable Parquet file of podium: it does not end with its"
                " SHA-256. Restore the original file"
            )
        if found is None or _hash(file, start + found.start(1)) != found[1]:
            raise CorruptFileError(
                f"{path} is damaged: its content does not match its SHA-256. Restore the original"
                " file"
            )
        return found[1].decode()


def _footer(file: BinaryIO) -> tuple[int, bytes]:
    """Offset of the footer, and all bytes from there; the whole file if it has none."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _LENGTH_BYTES - len(_MAGIC)))
    end = file.read()
    length = int.from_bytes(end[:_LENGTH_BYTES], "little") + len(end)
    start = size - length if end.endswith(_MAGIC) and length <= size else 0
    file.seek(start)
    return start, file.read()


def _hash(file: BinaryIO, offset: int) -> bytes:
    """SHA-256 of all bytes, with zeros at the offset of the checksum."""
    state = hashlib.sha256()
    file.seek(0)
    _feed(state, file, offset)
    state.update(_ZEROS)
    file.seek(offset + len(_ZEROS))
    _feed(state, file, None)
    return state.hexdigest().encode()


def _feed(state: "hashlib._Hash", file: BinaryIO, count: int | None) -> None:
    """Hash the next bytes of a file; None means all that are left."""
    while count is None or count > 0:
        chunk = file.read(_CHUNK_BYTES if count is None else min(count, _CHUNK_BYTES))
        if not chunk:
            return
        state.update(chunk)
        count = None if count is None else count - len(chunk)
