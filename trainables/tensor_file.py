"""Tensors and metadata in one safetensors file with a checksum.

The header of the file holds one text, ``podium``: JSON with ``kind``, ``facts`` and ``sha256``,
the hash of kind, facts, names, types, shapes and values. So damage is found wherever it lies, any
safetensors reader gets the tensors, and reading runs no code.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from trainables.errors import TrialInputError

_KEY = "podium"
_PREFIX_BYTES = 8  # of safetensors: the length of its header


class TensorFile(NamedTuple):
    """What `encode_tensors` was given."""

    facts: Mapping[str, Any]
    tensors: Mapping[str, Tensor]


def encode_tensors(kind: str, facts: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> bytes:
    """The bytes of a file; the same for the same arguments.

    Args:
        kind: kind of content, such as ``model``.
        facts: plain values for JSON, without NaN or infinities.
        tensors: tensors by name, on any device.
    """
    plain = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    content = {"kind": kind, "facts": facts}
    header = {**content, "sha256": _hash(content, plain)}
    written: bytes = save(plain, metadata={_KEY: _json(header)})
    return written


def read_tensors(file: Path, kind: str) -> TensorFile:
    """The content of a file of `encode_tensors`; tensors are on the CPU.

    Raises:
        TrialInputError: there is no such file, or it is damaged, not of podium or of another kind.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        raise TrialInputError(f"{file} cannot be read: {error.strerror}") from error
    return decode_tensors(content, kind, str(file))


def decode_tensors(content: bytes, kind: str, name: str) -> TensorFile:
    """What `encode_tensors` was given; tensors are on the CPU.

    Args:
        content: bytes of the file.
        kind: kind that the file must have been written with.
        name: name of the file, for messages.

    Raises:
        TrialInputError: the bytes are damaged, not of podium or of another kind.
    """
    try:
        tensors = load(content)
        header = _header(content)
        written = None if header is None else header.pop("sha256", None)
        found = None if header is None else _hash(header, tensors)
    except (SafetensorError, ValueError, RecursionError) as error:
        raise TrialInputError(
            f"{name} is not a safetensors file, or is damaged: {error}"
        ) from error
    if header is None:
        raise TrialInputError(f"{name} is a safetensors file that podium did not write")
    if found != written:
        raise TrialInputError(f"{name} is damaged: its content does not match its SHA-256")
    if header.get("kind") != kind or not isinstance(header.get("facts"), dict):
        raise TrialInputError(
            f"{name} must hold podium's {kind}; it holds {header.get('kind')!r} instead"
        )
    return TensorFile(facts=header["facts"], tensors=tensors)


def tensor_hash(tensors: Mapping[str, Tensor]) -> str:
    """SHA-256 of names, types, shapes and values of tensors on the CPU, whatever their order."""
    state = hashlib.sha256()
    for name, value in sorted(tensors.items()):
        state.update(f"{name} {value.dtype} {list(value.shape)}\n".encode())
        state.update(value.contiguous().flatten().view(torch.uint8).numpy().data)
    return state.hexdigest()


def _hash(content: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> str:
    return hashlib.sha256((_json(content) + tensor_hash(tensors)).encode()).hexdigest()


def _header(content: bytes) -> dict[str, Any] | None:
    """Podium's text in the header; None if there is none."""
    end = _PREFIX_BYTES + int.from_bytes(content[:_PREFIX_BYTES], "little")
    text = json.loads(content[_PREFIX_BYTES:end]).get("__metadata__", {}).get(_KEY)
    header = None if text is None else json.loads(text)
    return header if isinstance(header, dict) else None


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
