"""A SHA-256 of a whole Parquet file, within the file.

Parquet's own checksums cover pages, not their headers and not the footer, where a flipped bit can
change what is read without a word. So the footer gets a text of ours, ``podium_seal``: the hash of
all bytes, taken while zeros stood in its place. Files from before there were seals have none.
"""

import hashlib
import os
import re
from pathlib import Path
from typing import BinaryIO

from orchestrator.results.errors import CorruptFileError
from orchestrator.results.storage.locations import Place

__all__ = ["SEAL_METADATA", "check_seal", "seal_file", "sealed_bytes"]

_KEY, _PREFIX = b"podium_seal", b"sha256:"
_ZEROS = b"0" * (2 * hashlib.sha256().digest_size)
SEAL_METADATA = {_KEY.decode(): (_PREFIX + _ZEROS).decode()}
"""What a Parquet file must have in its footer to be sealed."""

# Key and value are texts, each with a length before it. Damage can hit one of both, not both.
_SEAL = re.compile(re.escape(_KEY) + rb"..?" + _PREFIX + rb"([0-9a-f]{64})", re.DOTALL)
_TRACE = re.compile(re.escape(_KEY) + rb"|" + _PREFIX + rb"[0-9a-f]{64}")
_CHUNK_BYTES = 1 << 20
_LENGTH_BYTES, _MAGIC = 4, b"PAR1"  # the last bytes of a file: how long its footer is, and these


def sealed_bytes(data: bytes) -> bytes:
    """A Parquet file with `SEAL_METADATA`, sealed."""
    place = data.rindex(_PREFIX + _ZEROS) + len(_PREFIX)
    found = hashlib.sha256(data).hexdigest().encode()
    return data[:place] + found + data[place + len(_ZEROS) :]


def seal_file(file: BinaryIO) -> None:
    """Seal a Parquet file with `SEAL_METADATA` that was just written, and is open for writing."""
    file.flush()
    with Path(file.name).open("rb") as written:
        start, footer = _footer(written)
        place = start + footer.rindex(_PREFIX + _ZEROS) + len(_PREFIX)
        found = _hash(written, place)
    file.seek(place)
    file.write(found)
    file.seek(0, os.SEEK_END)


def check_seal(copy: Path, path: Place) -> bool:
    """Whether a file has a seal, which is then checked.

    Args:
        copy: of the file, on this machine; or the file.
        path: of the file, for messages.

    Raises:
        CorruptFileError: the file does not fit its seal, or the seal is damaged.
        OSError: the file cannot be read.
    """
    with copy.open("rb") as file:
        start, footer = _footer(file)
        if _TRACE.search(footer) is None:
            return False
        seal = _SEAL.search(footer)
        if seal is None or _hash(file, start + seal.start(1)) != seal[1]:
            raise CorruptFileError(
                f"{path} is damaged: its content does not fit its SHA-256. Bring back the file as"
                " it was"
            )
    return True


def _footer(file: BinaryIO) -> tuple[int, bytes]:
    """Where the footer starts, and all bytes from there; all of a file that has none."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _LENGTH_BYTES - len(_MAGIC)))
    end = file.read()
    length = int.from_bytes(end[:_LENGTH_BYTES], "little") + len(end)
    start = size - length if end.endswith(_MAGIC) and length <= size else 0
    file.seek(start)
    return start, file.read()


def _hash(file: BinaryIO, place: int) -> bytes:
    """Of all bytes, with zeros at the place of the seal."""
    state = hashlib.sha256()
    file.seek(0)
    _feed(state, file, place)
    state.update(_ZEROS)
    file.seek(place + len(_ZEROS))
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
