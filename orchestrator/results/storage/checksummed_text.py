"""Files of text that tell when they were changed: each holds the SHA-256 of the rest of itself.

JSON gets two keys, ``sealed_by`` and ``sha256``; YAML a first and a last line of comment. There
are two marks so that a file whose damage hits one of them is not taken for one without a seal:
files from before there were seals have neither, and are read as they are.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from orchestrator.results.errors import CorruptFileError
from orchestrator.results.storage.files import put_json, read_bytes_of, read_json
from orchestrator.results.storage.locations import Place

__all__ = ["put_sealed", "read_sealed", "read_sealed_of", "sealed", "sealed_text", "unsealed_text"]

_MARK, _HASH = "sealed_by", "sha256"
_FIRST_LINE = b"# sealed by sha256\n"
_LAST_LINE = re.compile(rb"# sha256 ([0-9a-f]{64})\n\Z")


def sealed(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values with their seal, for a JSON file."""
    return {**values, _MARK: "sha256", _HASH: _digest(values)}


def put_sealed(path: Place, values: Mapping[str, Any]) -> None:
    """Write a JSON file with its seal, replacing what has that name."""
    put_json(path, sealed(values))


def read_sealed(path: Place, content: bytes | None = None) -> dict[str, Any] | None:
    """What `put_sealed` was given; None if there is no such file.

    Args:
        path: of the file.
        content: of the file, if it was read already.

    Raises:
        CorruptFileError: the file is truncated, not JSON, holds no object, or was changed.
    """
    values = read_json(path, content)
    if values is None or not values.keys() & {_MARK, _HASH}:
        return values
    mark, written = values.pop(_MARK, None), values.pop(_HASH, None)
    if mark != "sha256" or written != _digest(values):
        raise _changed(path)
    return values


def read_sealed_of(paths: Sequence[Place]) -> Iterator[dict[str, Any] | None]:
    """As `read_sealed`, of many files; remote ones are read several at once."""
    for path, content in zip(paths, read_bytes_of(paths), strict=True):
        yield None if content is None else read_sealed(path, content)


def sealed_text(text: bytes) -> bytes:
    """YAML with its seal; the text must end with a line break."""
    return _FIRST_LINE + text + f"# sha256 {hashlib.sha256(text).hexdigest()}\n".encode()


def unsealed_text(path: Place, content: bytes) -> bytes:
    """What `sealed_text` was given, or the content itself if it has no seal.

    Args:
        path: for the message.
        content: of the file.

    Raises:
        CorruptFileError: the file was changed.
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
        f"{path} was changed after it was written, or is damaged: its content does not fit its"
        " SHA-256. Bring back the file as it was"
    )


def _digest(values: Mapping[str, Any]) -> str:
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
