"""JSON and YAML files that hold a SHA-256 of their own content, so that changes are detected.

JSON gets two keys, ``sealed_by`` and ``sha256``, YAML a last line of comment.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from orchestrator.results.storage.files import parse_json, put, read_record, to_json
from orchestrator.results.storage.locations import Place
from podium.errors import CorruptFileError

_MARK, _HASH = "sealed_by", "sha256"
_LAST_LINE = re.compile(rb"# sha256 ([0-9a-f]{64})\n\Z")


def write_checksummed(path: Place, values: Mapping[str, Any]) -> None:
    """Write a JSON file with its checksum, replacing what has that name."""
    put(path, to_json({**values, _MARK: "sha256", _HASH: _checksum(values)}))


def read_checksummed(path: Place) -> dict[str, Any] | None:
    """What `write_checksummed` was given; None if there is no such file.

    Raises:
        CorruptFileError: the file is truncated, not JSON, holds no object, or does not match its
            checksum.
    """
    values = parse_json(path, read_record(path))
    if values is None:
        return None
    mark, written = values.pop(_MARK, None), values.pop(_HASH, None)
    if mark != "sha256" or written != _checksum(values):
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


def _checksum(values: Mapping[str, Any]) -> str:
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
