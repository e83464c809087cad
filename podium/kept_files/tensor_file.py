"""Arrays and metadata in one safetensors file with a checksum.

The header of the file holds one text, ``podium``: JSON with ``kind``, ``facts`` and ``sha256``,
the hash of kind, facts, names, types, shapes and values. So damage is found wherever it lies, any
safetensors reader gets the arrays, and reading runs no code and needs no torch.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load, save

from podium.errors import CorruptFileError, PodiumError

_KEY = "podium"
_PREFIX_BYTES = 8  # of safetensors: the length of its header


TensorFile = tuple[Mapping[str, Any], Mapping[str, npt.NDArray[Any]]]
"""Facts and arrays that `encode_tensors` was given."""


def encode_tensors(
    kind: str, facts: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]
) -> bytes:
    """The bytes of a file; the same for the same arguments.

    Args:
        kind: kind of content, such as ``model``.
        facts: plain values for JSON, without NaN or infinities.
        arrays: arrays by name.
    """
    plain = {name: np.ascontiguousarray(it).reshape(it.shape) for name, it in arrays.items()}
    content = {"kind": kind, "facts": facts}
    header = {**content, "sha256": _hash(content, plain)}
    written: bytes = save(plain, metadata={_KEY: _json(header)})
    return written


def read_tensors(file: Path, kind: str) -> TensorFile:
    """As `decode_tensors`, of a file.

    Raises:
        PodiumError: the file cannot be read.
        CorruptFileError: see `decode_tensors`.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        raise PodiumError(f"{file} cannot be read: {error.strerror}") from error
    return decode_tensors(content, kind, str(file))


def decode_tensors(content: bytes, kind: str, name: str) -> TensorFile:
    """What `encode_tensors` was given.

    Args:
        content: bytes of the file.
        kind: kind that the file must have been written with.
        name: name of the file, for messages.

    Raises:
        CorruptFileError: the bytes are damaged, not of podium or of another kind.
    """
    try:
        arrays = load(content)
        header = _header(content)
        written = None if header is None else header.pop("sha256", None)
        found = None if header is None else _hash(header, arrays)
    except (SafetensorError, ValueError, KeyError, RecursionError) as error:
        raise CorruptFileError(
            f"{name} is not a safetensors file, or is damaged: {error}"
        ) from error
    if header is None:
        raise CorruptFileError(f"{name} is a safetensors file that podium did not write")
    if found != written:
        raise CorruptFileError(f"{name} is damaged: its content does not match its SHA-256")
    if header.get("kind") != kind or not isinstance(header.get("facts"), dict):
        raise CorruptFileError(
            f"{name} must hold podium's {kind}; it holds {header.get('kind')!r} instead"
        )
    return header["facts"], arrays


def tensor_hash(arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    """SHA-256 of names, types, shapes and values of arrays, whatever their order."""
    state = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        # Types are called as in torch.
        state.update(f"{name} torch.{array.dtype.name} {list(array.shape)}\n".encode())
        state.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return state.hexdigest()


def _hash(content: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    return hashlib.sha256((_json(content) + tensor_hash(arrays)).encode()).hexdigest()


def _header(content: bytes) -> dict[str, Any] | None:
    """Podium's text in the header; None if there is none."""
    end = _PREFIX_BYTES + int.from_bytes(content[:_PREFIX_BYTES], "little")
    text = json.loads(content[_PREFIX_BYTES:end]).get("__metadata__", {}).get(_KEY)
    header = None if text is None else json.loads(text)
    return header if isinstance(header, dict) else None


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
