"""JSON and YAML files that hold a SHA-256 of their own content, so that changes are detected.

JSON gets two keys, ``sealed_by`` and ``sha256``, YAML a last line of comment.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from orchestrator.results.storage.files import each, parse_json, put_json, read_record
from orchestrator.results.storage.locations import Place
from podium.errors import CorruptFileError

_MARK, _HASH = "sealed_by", "sha256"
_LAST_LINE = re.compile(rb"# sha256 ([0-9a-f]{64})\n\Z")


def with_checksum(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values and the two keys of their checksum, for a JSON file."""
    return {**values, _MARK: "sha256", _HASH: checksum_of(values)}


def write_checksummed(path: Place, values: Mapping[str, Any]) -> None:
    """Write a JSON file with its checksum, replacing what has that name."""
    put_json(path, with_checksum(values))


def read_checksummed(path: Place) -> dict[str, Any] | None:
    """What `write_checksummed` was given; None if there is no such file. Raises as `verified`."""
    return verified(path, read_record(path))


def read_checksummed_of_many(paths: Sequence[Place]) -> Iterator[dict[str, Any] | None]:
    """As `read_checksummed`, of many files; remote ones are read several at once."""
    return map(verified, paths, each(read_record, paths))


def verified(path: Place, content: bytes | None) -> dict[str, Any] | None:
    """What `write_checksummed` was given, from the bytes of the file; None if there is none.

    Args:
        path: file of the content, for messages.
        content: bytes of the file.

    Raises:
        CorruptFileError: the file is truncated, not JSON, holds no object, or does not match its
            checksum.
    """
    values = parse_json(path, content)
    if values is None:
        return None
    mark, written = values.pop(_MARK, None), values.pop(_HASH, None)
    if mark != "sha256" or written != checksum_of(values):
        raise _changed(path)
    return values


def text_with_checksum(text: bytes) -> bytes:
    """YAML with a comment line of its checksum; the text must end with a line break."""
    return text + f"# sha256 {hashlib.sha256(text).hexdigest()}\n".encode()


def text_without_checksum(path: Place, content: bytes) -> bytes:
    """What `text_with_checksum` was given; CorruptFileError, with the path, if it was changed."""
    last = _LAST_LINE.search(content)
    text = content[: last.start()] if last else content
    if not last or hashlib.sha256(text).hexdigest().encode() != last[1]:
        raise _changed(path)
    return text


def _changed(path: Place) -> CorruptFileError:
    return CorruptFileError(
        f"{path} was changed after it was written, or is damaged: its content does not match its"
        " SHA-256. Restore the original file"
    )


def checksum_of(values: Mapping[str, Any]) -> str:
    """The checksum that a JSON file of the values holds: a SHA-256 in hexadecimal digits."""
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
