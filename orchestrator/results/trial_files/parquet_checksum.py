"""A SHA-256 of a whole Parquet file, within the file.

Parquet's own checksums cover pages, not their headers and not the footer, where a flipped bit can
change what is read unnoticed. So the footer gets a key ``podium_seal``: the hash of all bytes,
taken with zeros in its place.
"""

import hashlib

from orchestrator.results.storage.locations import Place
from podium.errors import CorruptFileError

_PREFIX = b"sha256:"
_ZEROS = b"0" * (2 * hashlib.sha256().digest_size)
CHECKSUM_METADATA = {"podium_seal": (_PREFIX + _ZEROS).decode()}
"""Key and placeholder that a Parquet file must have in its footer to get a checksum."""


def with_checksum(data: bytes) -> tuple[bytes, str]:
    """The bytes of a Parquet file with `CHECKSUM_METADATA`, its checksum filled in, and that."""
    before, _, after = data.rpartition(_PREFIX + _ZEROS)
    found = hashlib.sha256(data).hexdigest()
    return b"".join((before, _PREFIX, found.encode(), after)), found


def verified_checksum(data: bytes, path: Place) -> str:
    """The checksum that the bytes of a file hold and match, in hexadecimal digits.

    Args:
        data: the bytes.
        path: path of the file, for messages.

    Raises:
        CorruptFileError: the file has no checksum, or does not match it.
    """
    start = data.rfind(_PREFIX) + len(_PREFIX)  # the footer is at the end of the file
    if start < len(_PREFIX):
        raise CorruptFileError(
            f"{path} is not a readable Parquet file of podium: it does not end with its SHA-256."
            " Restore the original file"
        )
    end = start + len(_ZEROS)
    whole = memoryview(data)
    state = hashlib.sha256(whole[:start])
    state.update(_ZEROS)
    state.update(whole[end:])
    if state.hexdigest().encode() != data[start:end]:
        raise CorruptFileError(
            f"{path} is damaged: its content does not match its SHA-256. Restore the original file"
        )
    return state.hexdigest()
