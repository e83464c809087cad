"""Whole-file operations of the store, alike for local and remote places.

A place is a path of this machine (`local_files`) or one that a URI names (`object_store`). Both
keep the same promises: a file appears whole under its name or not at all, a missing file is None
or empty, transient errors are retried (`transient_errors`), and what cannot be done is a
StoreError with the place and the reason. All reads and writes of the store go through here.
"""

import glob
import os
import secrets
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from podium.errors import CorruptFileError, StoreError
from podium.orchestrator.results.storage import local_files
from podium.orchestrator.results.storage.local_files import LocalFile, retried
from podium.orchestrator.results.storage.locations import (
    TEMPORARY_SUFFIX,
    Place,
    RemotePath,
    StoredFile,
    temporary_name,
)
from podium.orchestrator.results.storage.transient_errors import RETRY_SECONDS, retrying_for

if TYPE_CHECKING:
    from podium.orchestrator.results.storage.object_store import RemoteFile

_MAX_THREADS = 16

T = TypeVar("T")


def each(action: Callable[[Place], T], places: Sequence[Place]) -> Iterable[T]:
    """The results for all places in order; of remote ones up to 16 at once, which mostly wait."""
    if len(places) < 2 or not any(isinstance(place, RemotePath) for place in places):
        return map(action, places)
    contexts = [copy_context() for _ in places]
    with ThreadPoolExecutor(min(_MAX_THREADS, len(places))) as pool:
        # After the first error those that wait are cancelled.
        return list(pool.map(lambda context, place: context.run(action, place), contexts, places))


def _remote(place: RemotePath) -> "RemoteFile":
    from podium.orchestrator.results.storage.object_store import RemoteFile  # takes 40 ms

    return RemoteFile(place)


def _at(place: Place) -> "LocalFile | RemoteFile":
    return _remote(place) if isinstance(place, RemotePath) else LocalFile(place)


def check_writable(folder: Place) -> None:
    """Raise StoreError if files could not be written in ``folder``; leaves nothing behind.

    A missing folder is not made: its nearest existing ancestor is probed. A remote store that
    ignores the condition of `put_if_absent` is refused too.
    """
    nearest = folder.absolute()
    while isinstance(nearest, Path) and not os.path.lexists(nearest):
        nearest = nearest.parent
    probe = nearest / temporary_name("probe")
    with retrying_for(RETRY_SECONDS):  # in all, and not each request
        put(probe, b"podium")
        try:
            is_ignored = put_if_absent(probe, b"podium again")
        finally:
            remove(probe)
    if is_ignored:
        raise StoreError(
            f"cannot use {folder}: the store ignores `If-None-Match: *`, so that two runs could"
            " overwrite each other's trials; Amazon S3, MinIO, Cloudflare R2 and Ceph support it"
            " in their present versions"
        )


@retried("write")
def put(path: Place, data: bytes) -> None:
    """Write a file whole, replacing what has that name. Missing folders are made."""
    _at(path).write(data)


def put_if_absent(path: Place, data: bytes) -> bool:
    """Write a file whole unless one has that name; True if this call made it.

    Of several callers at the same time exactly one gets True.
    """
    token = secrets.token_hex(8)
    # Ours all the same, if it was made by an attempt whose answer was lost.
    return _create(path, data, token) or (isinstance(path, RemotePath) and _is_by(path, token))


@retried("write")
def _create(path: Place, data: bytes, token: str) -> bool:
    return _at(path).create(data, token)


@retried("look at")
def _is_by(path: RemotePath, token: str) -> bool:
    return _remote(path).is_by(token)


@retried("read")
def read_bytes(path: Place) -> bytes | None:
    """The content of a file; None if there is none; CorruptFileError if it is no regular file."""
    return _at(path).read()


def read_whole(path: Place, copied_from: Place | None = None) -> bytes:
    """As `read_bytes`; CorruptFileError, naming the original of a copy, if there is no file."""
    content = read_bytes(path)
    if content is None:
        raise CorruptFileError(f"{copied_from or path} is missing")
    return content


@retried("look at")
def exists(path: Place) -> bool:
    """Whether there is a file; CorruptFileError for what else there is in a local place."""
    return _at(path).exists()


@retried("list")
def contents(folder: Place, *, deep: bool = True) -> list[tuple[str, str]]:
    """Path in a folder, and kind, of what lies in it, sorted; links are not followed.

    The kind is ``file``, ``folder``, or what else it is, such as ``a symbolic link``. At any depth
    of a remote store there are files alone. A missing folder is empty.
    """
    found = _at(folder).contents(deep=deep)
    return sorted(found, key=lambda it: it[0].replace("/", "\0"))


@retried("list")
def stored_files(folder: Place) -> list[StoredFile]:
    """Every file below a folder at any depth, sorted by path; nothing but files."""
    return sorted(_at(folder).stored_files())


def list_files(folder: Place, suffix: str, *, in_subfolders: bool = False) -> list[Place]:
    """Sorted files in ``folder``, or in its subfolders, that end in ``suffix``, no temporaries.

    Of a remote folder by one listing. A missing folder is an empty one.

    Raises:
        CorruptFileError: a link is right in the folder.
    """
    found = [it for it, _ in _without_links(folder, deep=in_subfolders) if it.endswith(suffix)]
    own = (path for path in found if path.count("/") == in_subfolders)
    return [folder / path for path in own if not path.rpartition("/")[2].startswith(".")]


def list_folders(folder: Place) -> list[Place]:
    """Sorted subfolders; CorruptFileError for a link."""
    return [folder / it for it, kind in _without_links(folder, deep=False) if kind == "folder"]


def _without_links(folder: Place, *, deep: bool) -> list[tuple[str, str]]:
    """As `contents`, once nothing right in the folder leads away."""
    found = contents(folder, deep=deep)
    for path, kind in found:
        if kind == "a symbolic link" and "/" not in path:
            raise local_files.not_regular(f"{folder}/{path}", kind)
    return found


def list_studies(storage: Place) -> list[Place]:
    """Sorted subfolders of a storage, which may hold anything; links to folders are folders."""
    places = [storage / name for name, kind in contents(storage, deep=False) if kind != "file"]
    return [place for place in places if isinstance(place, RemotePath) or place.is_dir()]


def refuse_links(folder: Place, *, deep: bool) -> None:
    """Raise CorruptFileError for links, pipes and devices in a folder, before anything is read.

    The folder itself may be a link. With ``deep`` those at any depth are refused, else those right
    in it: others are where folders are listed and files are opened. Remote folders have none.
    """
    for name, kind in () if isinstance(folder, RemotePath) else contents(folder, deep=deep):
        if kind not in ("file", "folder"):
            raise local_files.not_regular(f"{folder}/{name}", kind)


def remove(*places: Place) -> None:
    """Delete files of one store, of S3 many by one request; nothing happens if there is none."""
    if any(isinstance(place, RemotePath) and place.scheme == "s3" for place in places):
        _remove(*places)
    else:
        list(each(_remove, places))


@retried("delete")
def _remove(place: Place, *others: Place) -> None:
    _at(place).remove(others)


@retried("clean")
def remove_temporaries(folder: Place, beginning: str = "") -> None:
    """Delete what killed writers left of files whose names begin so; no process may be writing.

    Remote folders and missing ones have nothing of that kind.
    """
    if isinstance(folder, Path):
        for leftover in folder.glob(f".{glob.escape(beginning)}*{TEMPORARY_SUFFIX}"):
            leftover.unlink(missing_ok=True)
