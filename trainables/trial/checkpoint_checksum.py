"""What tells a damaged checkpoint before anything in it is parsed; needs no torch.

marker | SHA-256 of the rest | the rest
"""

import hashlib

from trainables.errors import CheckpointError

__all__ = ["sealed_checkpoint", "unsealed_checkpoint"]

_MARKER = b"podium checkpoint 1\n"
_HASH_BYTES = hashlib.sha256().digest_size


def sealed_checkpoint(archive: bytes) -> bytes:
    """The bytes that `unsealed_checkpoint` reads."""
    return _MARKER + hashlib.sha256(archive).digest() + archive


def unsealed_checkpoint(content: bytes) -> bytes:
    """What `sealed_checkpoint` was given.

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
