"""Folders that appear whole or not at all, and copies of files into them."""

import glob
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orchestrator.results.storage.local_copies import local_copy
from orchestrator.results.storage.local_files import store_errors
from orchestrator.results.storage.locations import (
    TEMPORARY_SUFFIX,
    Place,
    RemotePath,
    temporary_name,
)
from podium.errors import StoreError


@contextmanager
def new_folder(path: Place) -> Iterator[Path]:
    """A folder to fill, which gets its name when the block ends without an exception.

    What a killed earlier call for the same name left is deleted.

    Raises:
        StoreError: something of that name already exists, the disk cannot be written, or the
            place is remote: folders there have no names that could be given at the end.
    """
    if isinstance(path, RemotePath):
        raise StoreError(
            f"cannot make {path}: a whole folder is made on this machine only; copy it there when"
            " it is done"
        )
    if path.exists() or path.is_symlink():
        raise StoreError(f"cannot make {path}: something of that name already exists")
    with store_errors("make", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        for leftover in path.parent.glob(f".{glob.escape(path.name)}.*{TEMPORARY_SUFFIX}"):
            shutil.rmtree(leftover)
        temporary = path.with_name(temporary_name(path.name))
        temporary.mkdir()
    try:
        yield temporary
        with store_errors("make", path):
            os.sync()  # once for all files: one by one takes minutes where there are thousands
            temporary.rename(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def copy_file(source: Place, target: Path) -> None:
    """Copy a file into a folder that is being made; one that has the name already stays."""
    with store_errors("copy", source):
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(local_copy(source), target)
