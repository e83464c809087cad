"""One hash of all that a folder holds, which any change of a byte, a name or a kind changes."""

import hashlib

from orchestrator.results.storage.files import contents, each, read_bytes
from orchestrator.results.storage.locations import Place


def content_digest(folder: Place) -> str:
    """SHA-256 of the paths, kinds and contents of everything below a folder.

    Raises:
        StoreError: something cannot be read.
    """
    found = contents(folder)
    files = [folder / path for path, kind in found if kind == "file"]
    of_files = iter(each(_digest, files))
    lines = [
        f"{path}\0{kind}\0{next(of_files) if kind == 'file' else ''}\n" for path, kind in found
    ]
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def _digest(file: Place) -> str:
    """SHA-256 of a file; empty if it is gone meanwhile."""
    content = read_bytes(file)
    return "" if content is None else hashlib.sha256(content).hexdigest()
