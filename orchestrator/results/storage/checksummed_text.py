"""JSON and YAML files that hold a SHA-256 of their own content, so that changes are detected.

JSON gets two keys, ``sealed_by`` and ``sha256``, YAML a last line of comment.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json

from podium.errors import CorruptFileError
from podium.orchestrator.results.storage.files import put, read_record
from podium.orchestrator.results.storage.locations import Place

_MARK, _HASH = "sealed_by", "sha256"
_LAST_LINE = re.compile(rb"# sha256 ([0-9a-f]{64})\n\Z")


def write_checksummed(path: Place, values: Mapping[str, Any]) -> None:
    """Write a JSON file with its checksum, replacing what has that name."""
    sealed = {**values, _MARK: "sha256", _HASH: _checksum(values)}
    put(path, json.dumps(sealed, ensure_ascii=False, indent=1).encode() + b"\n")


def read_checksummed(path: Place) -> dict[str, Any] | None:
    """What `write_checksummed` was given; None if there is no such file.

    Raises:
        CorruptFileError: the file is truncated, not JSON, holds no object, or does not match its
            checksum.
    """
    content = read_record(path)
    if content is None:
        return None
    try:
        values: dict[str, Any] = from_json(content, allow_inf_nan=False)
        if not isinstance(values, dict):
            raise ValueError(f"it must be an object, not a {type(values).__name__}")
        mark, written = values.pop(_MARK, None), values.pop(_HASH, None)
        checksum = _checksum(values)
    except ValueError as error:
        raise CorruptFileError(f"{path} is not valid JSON: {error}") from error
    if mark != "sha256" or written != checksum:
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
