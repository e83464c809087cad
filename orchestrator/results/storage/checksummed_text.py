"""JSON and YAML files that hold a SHA-256 of their own content, so that changes are detected.

JSON gets two keys, ``sealed_by`` and ``sha256``; YAML a first and a last line of comment. There
are two marks so that a file whose damage hits one of them is not taken for one without a checksum:
files of versions that wrote none have neither mark, and are read unchecked.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from orchestrator.results.storage.files import (
    parse_json,
    put,
    put_json,
    read_record,
    read_records,
)
from orchestrator.results.storage.locations import Place
from podium.errors import CorruptFileError

_MARK, _HASH = "sealed_by", "sha256"
_SEAL = f',"{_MARK}":"sha256","{_HASH}":"%s"}}'.encode()
_COMPACT_END = re.compile(_SEAL.replace(b"%s", b"([0-9a-f]{64})") + rb"\n\Z")
_END_BYTES = 200
_FIRST_LINE = b"# sealed by sha256\n"
_LAST_LINE = re.compile(rb"# sha256 ([0-9a-f]{64})\n\Z")


def with_checksum(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values and the two keys of their checksum, for a JSON file."""
    return {**values, _MARK: "sha256", _HASH: checksum_of(values)}


def write_checksummed(path: Place, values: Mapping[str, Any]) -> None:
    """Write a JSON file with its checksum, replacing what has that name."""
    put_json(path, with_checksum(values))


def write_compact(path: Place, values: Mapping[str, Any]) -> str:
    """As `write_checksummed`, on one line, which is read in half the time.

    Args:
        path: path of the file.
        values: one or more.

    Returns:
        Their checksum, as of `checksum_of`.
    """
    text = _canonical(values)
    checksum = hashlib.sha256(text).hexdigest()
    put(path, text[:-1] + _SEAL % checksum.encode() + b"\n")
    return checksum


def read_checksummed(path: Place) -> dict[str, Any] | None:
    """What `write_checksummed` was given; None if there is no such file.

    Raises:
        CorruptFileError: the file is truncated, not JSON, holds no object, or does not match its
            checksum.
    """
    return verified(path, read_record(path))


def read_with_checksum(path: Place) -> tuple[dict[str, Any] | None, str | None]:
    """As `read_checksummed`, with the checksum; (None, None) if there is no such file."""
    return _verified(path, read_record(path))


def read_checksummed_of_many(paths: Sequence[Place]) -> Iterator[dict[str, Any] | None]:
    """As `read_checksummed`, of many files; remote ones are read several at once."""
    return map(verified, paths, read_records(paths))


def verified(path: Place, content: bytes | None) -> dict[str, Any] | None:
    """What `write_checksummed` was given, from the bytes of the file; None if there is none.

    Args:
        path: file of the content, for messages.
        content: bytes of the file.

    Raises:
        CorruptFileError: as `read_checksummed`.
    """
    return _verified(path, content)[0]


def _verified(path: Place, content: bytes | None) -> tuple[dict[str, Any] | None, str | None]:
    values = parse_json(path, content)
    if values is None or content is None:
        return None, None
    has_none = not values.keys() & {_MARK, _HASH}
    mark, written = values.pop(_MARK, None), values.pop(_HASH, None)
    found = _checksum_of_compact(content) or checksum_of(values)
    if not has_none and (mark != "sha256" or written != found):
        raise _changed(path)
    return values, found


def text_with_checksum(text: bytes) -> bytes:
    """YAML with the two comment lines of its checksum; the text must end with a line break."""
    return _FIRST_LINE + text + f"# sha256 {hashlib.sha256(text).hexdigest()}\n".encode()


def text_without_checksum(path: Place, content: bytes) -> bytes:
    """What `text_with_checksum` was given, or the content itself if it has no checksum.

    Args:
        path: file of the content, for the message.
        content: bytes of the file.

    Raises:
        CorruptFileError: the file does not match its checksum.
    """
    has_first, last = content.startswith(_FIRST_LINE), _LAST_LINE.search(content)
    if not has_first and last is None:
        return content
    if not has_first or last is None:
        raise _changed(path)
    text = content[len(_FIRST_LINE) : last.start()]
    if hashlib.sha256(text).hexdigest().encode() != last[1]:
        raise _changed(path)
    return text


def _changed(path: Place) -> CorruptFileError:
    return CorruptFileError(
        f"{path} was changed after it was written, or is damaged: its content does not match its"
        " SHA-256. Restore the original file"
    )


def checksum_of(values: Mapping[str, Any]) -> str:
    """The checksum that a JSON file of the values holds: a SHA-256 in hexadecimal digits."""
    return hashlib.sha256(_canonical(values)).hexdigest()


def _canonical(values: Mapping[str, Any]) -> bytes:
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode()


def _checksum_of_compact(content: bytes) -> str | None:
    """The checksum of what `write_compact` wrote, by its bytes alone; None of all else."""
    seal = _COMPACT_END.search(content, max(0, len(content) - _END_BYTES))
    if seal is None:
        return None
    state = hashlib.sha256(memoryview(content)[: seal.start()])
    state.update(b"}")
    found = state.hexdigest()
    return found if found == seal[1].decode() else None
