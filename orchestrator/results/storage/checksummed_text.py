"""JSON and YAML files that hold a SHA-256 of their own text, so that changes are detected.

JSON has it in its first key, of all that follows; YAML in a last line of comment.
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

_JSON = re.compile(rb'\{"sha256": "([0-9a-f]{64})",(.*)', re.DOTALL)
_LAST_LINE = re.compile(rb"# sha256 ([0-9a-f]{64})\n\Z")


def write_checksummed(path: Place, values: Mapping[str, Any]) -> None:
    """Write a JSON file with its checksum, replacing what has that name."""
    text = json.dumps(values, ensure_ascii=False, allow_nan=False, indent=1).encode()[1:] + b"\n"
    put(path, b'{"sha256": "%s",%s' % (_checksum(text), text))


def read_checksummed(path: Place) -> dict[str, Any] | None:
    """What `write_checksummed` was given; None if there is no such file.

    Raises:
        CorruptFileError: the file does not match its checksum, or is no JSON.
    """
    content = read_record(path)
    if content is None:
        return None
    found = _JSON.fullmatch(content)
    if not found or _checksum(found[2]) != found[1]:
        raise _changed(path)
    try:
        values: dict[str, Any] = from_json(b"{" + found[2], allow_inf_nan=False)
        json.dumps(values, allow_nan=False)  # 1e999 was read as infinite
    except ValueError as error:
        raise CorruptFileError(f"{path} is not valid JSON: {error}") from error
    return values


def text_with_checksum(text: bytes) -> bytes:
    """YAML with a comment line of its checksum; the text must end with a line break."""
    return b"%s# sha256 %s\n" % (text, _checksum(text))


def text_without_checksum(path: Place, content: bytes) -> bytes:
    """What `text_with_checksum` was given; CorruptFileError, with the path, if it was changed."""
    last = _LAST_LINE.search(content)
    if not last or _checksum(content[: last.start()]) != last[1]:
        raise _changed(path)
    return content[: last.start()]


def _changed(path: Place) -> CorruptFileError:
    return CorruptFileError(
        f"{path} was changed after it was written, or is damaged: its content does not match its"
        " SHA-256. Restore the original file"
    )


def _checksum(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest().encode()
