"""Names of files that are being written: they start with a dot, and no listing shows them."""

import secrets

__all__ = ["TEMPORARY_SUFFIX", "temporary_name"]

TEMPORARY_SUFFIX = ".tmp"


def temporary_name(name: str) -> str:
    """A new name, in the same folder, for what is to be called ``name`` when it is whole."""
    return f".{name}.{secrets.token_hex(8)}{TEMPORARY_SUFFIX}"
