"""JSON files whose first key is the SHA-256 of all that follows, so that changes are detected."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json

from podium.errors import CorruptFileError
from podium.orchestrator.results.storage.files import put, read_bytes
from podium.orchestrator.results.storage.locations import Place

_JSON = re.compile(rb'\{"sha256": "([0-9a-f]{64})",(.*)', re.DOTALL)


def write_checksummed(path: Place, values: Mapping[str, Any]) -> None:
    """Write a JSON file with its checksum, replacing what has that name."""
    text = json.dumps(values, ensure_ascii=False, allow_nan=False, indent=1).encode()[1:] + b"\n"
    put(path, b'{"sha256": "%s",%s' % (_checksum(text), text))


def read_checksummed(path: Place) -> dict[str, Any] | None:
    """What `write_checksummed` was given; None if there is no such file.

    Raises:
        CorruptFileError: the file does not match its checksum, or is no JSON.
    """
    content = read_bytes(path)
    if content is None:
        return None
    found = _JSON.fullmatch(content)
    if not found or _checksum(found[2]) != found[1]:
        raise CorruptFileError(
            f"{path} was changed after it was written, or is damaged: its content does not match"
            " its SHA-256. Restore the original file"
        )
    try:
        values: dict[str, Any] = from_json(b"{" + found[2], allow_inf_nan=False)
        json.dumps(values, allow_nan=False)  # 1e999 was read as infinite
    except ValueError as error:
        raise CorruptFileError(f"{path} is not valid JSON: {error}") from error
    return values


def _checksum(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest().encode()
