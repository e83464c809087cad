"""Checkpoints of trials as bytes with a checksum.

    marker | SHA-256 of the rest | torch archive of tensors, plain values and reports as JSON

Damage is found by the hash before anything is parsed, and the archive is read with
``weights_only``, so that a checkpoint can run no code.
"""

import hashlib
import io
import pickle
from collections.abc import Sequence
from typing import Any

import torch

from podium.trainables.errors import CheckpointError
from podium.trainables.trial_reports import (
    Report,
    reports_from_json,
    reports_to_json,
)

FoldState = dict[str, Any]


def encode(identity: str, reports: Sequence[Report], fold_state: FoldState | None) -> bytes:
    """How far a trial has come, as the bytes that `decode` reads.

    Args:
        identity: hash of the trial (`trainables.trial.setup.TrialSetup.identity`).
        reports: all reports so far, in order.
        fold_state: state of the fold that was last reported on; None if that fold is finished.
    """
    values = (identity, reports_to_json(reports), fold_state)
    buffer = io.BytesIO()
    torch.save(dict(zip(_KEYS, values, strict=True)), buffer)
    return add_checksum(buffer.getvalue())


_KEYS = ("identity", "reports", "fold_state")


def decode(content: bytes, identity: str) -> tuple[tuple[Report, ...], FoldState | None]:
    """Reports and state of the fold that `encode` was given; tensors are on the CPU.

    Args:
        content: bytes of the file.
        identity: identity of the trial to be resumed.

    Raises:
        CheckpointError: the bytes are no checkpoint, are damaged, or are of another trial.
    """
    archive = verified_archive(content)
    try:
        values = torch.load(io.BytesIO(archive), map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise CheckpointError(
            "the checkpoint holds more than tensors and plain values: it would run code"
        ) from error
    except (RuntimeError, EOFError) as error:
        raise CheckpointError(f"the checkpoint is not an archive of torch: {error}") from error
    if not isinstance(values, dict) or values.keys() != set(_KEYS):
        raise CheckpointError(f"a checkpoint holds {', '.join(sorted(_KEYS))}; this holds others")
    if values["identity"] != identity:
        raise CheckpointError(
            f"the checkpoint is of another trial or of other data: it holds {values['identity']}, "
            f"this trial is {identity}"
        )
    return reports_from_json(values["reports"]), values["fold_state"]


_MARKER = b"podium checkpoint 1\n"
_HASH_BYTES = hashlib.sha256().digest_size


def add_checksum(archive: bytes) -> bytes:
    """The marker and checksum of an archive, followed by the archive."""
    return _MARKER + hashlib.sha256(archive).digest() + archive


def verified_archive(content: bytes) -> bytes:
    """The archive that `add_checksum` was given.

    Raises:
        CheckpointError: the bytes are no checkpoint, or are damaged.
    """
    start = len(_MARKER) + _HASH_BYTES
    written_hash, archive = content[len(_MARKER) : start], content[start:]
    if not content.startswith(_MARKER):
        raise CheckpointError(
            f"a checkpoint starts with {_MARKER!r}, but these {len(content)} bytes start with "
            f"{content[: len(_MARKER)]!r}"
        )
    if hashlib.sha256(archive).digest() != written_hash:
        raise CheckpointError(f"the checkpoint of {len(content)} bytes is damaged or cut off")
    return archive
