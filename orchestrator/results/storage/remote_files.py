"""The functions of `files` for a `RemotePath`.

Every object is written by one request and appears whole. Transient failures are retried
(`transient_errors`); others are a StoreError with the place and the reason.
"""

import functools
import os
import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from orchestrator.results.storage.local_files import check_size
from orchestrator.results.storage.locations import RemotePath, temporary_name
from orchestrator.results.storage.object_store import Listing, ObjectStore, RequestError
from orchestrator.results.storage.object_store_clients import open_store
from orchestrator.results.storage.transient_errors import with_retries
from podium.errors import StoreError

__all__ = [
    "MEMORY_BYTES",
    "check_writable",
    "in_parallel",
    "list_all",
    "list_below",
    "list_folders",
    "list_names",
    "put",
    "put_if_absent",
    "read_bytes",
    "remove",
    "remove_folder",
    "size",
    "total_size",
]

MEMORY_BYTES = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
"""Memory of this machine: no larger file can be read whole."""

_MAX_THREADS = 16

A = TypeVar("A")
T = TypeVar("T")


def check_writable(folder: RemotePath) -> None:
    """Raise StoreError if objects could not be written in ``folder``; leaves nothing behind."""
    probe = folder / temporary_name("probe")
    made = put_if_absent(probe, b"podium")
    try:
        again = put_if_absent(probe, b"podium again")
    finally:
        remove(probe)
    if not made or again:
        raise StoreError(
            f"cannot use {folder}: the store ignores `If-None-Match: *`, so that two runs could"
            " overwrite each other's trials; Amazon S3, MinIO, Cloudflare R2 and Ceph support it"
            " in their present versions"
        )


def put(place: RemotePath, content: bytes | Path) -> None:
    """Write an object whole, replacing what has that name; a path is a local file to send."""
    _ask("write", place, lambda store: store.write(place.key, content))


def put_if_absent(place: RemotePath, data: bytes) -> bool:
    """Write an object whole unless one has that name; True if this call made it."""
    token = secrets.token_hex(16)
    if _ask("write", place, lambda store: store.create(place.key, data, token)):
        return True
    # Ours all the same, if it was made by an attempt whose answer was lost.
    return _ask("look at", place, lambda store: store.has_token(place.key, token))


def read_bytes(place: RemotePath, max_bytes: int) -> bytes | None:
    """The content of an object; None if there is none of that name.

    Raises:
        CorruptFileError: it has more than ``max_bytes``, by what the store says before it is read.
    """
    return _ask(
        "read",
        place,
        lambda store: store.read(place.key, lambda size: check_size(place, size, max_bytes)),
    )


def size(place: RemotePath) -> int | None:
    """Bytes of an object; None if there is none of that name."""
    return _ask("look at", place, lambda store: store.size(place.key))


def list_names(folder: RemotePath, suffix: str) -> list[str]:
    """Sorted names right below ``folder`` that end in ``suffix``; temporaries are left out."""
    names = (key.rpartition("/")[2] for key in _listing(folder, deep=False).sizes)
    return sorted(name for name in names if name.endswith(suffix) and not name.startswith("."))


def list_folders(folder: RemotePath) -> list[RemotePath]:
    """Sorted folders right below ``folder``."""
    found = _listing(folder, deep=False).folders
    return sorted(folder / key.rpartition("/")[2] for key in found)


def list_below(folder: RemotePath, suffix: str) -> list[RemotePath]:
    """Sorted objects two levels below ``folder`` that end in ``suffix``, by one listing."""
    paths = (key.removeprefix(folder.key).strip("/") for key in _listing(folder, deep=True).sizes)
    return sorted(
        folder / path
        for path in paths
        if path.count("/") == 1 and path.endswith(suffix) and "/." not in path
    )


def list_all(folder: RemotePath) -> list[str]:
    """Sorted paths of all objects below ``folder``, relative to it."""
    return sorted(
        key.removeprefix(folder.key).strip("/") for key in _listing(folder, deep=True).sizes
    )


def total_size(folder: RemotePath, suffix: str) -> int:
    """Bytes of all objects directly below ``folder`` that end in ``suffix``."""
    found = _listing(folder, deep=False).sizes
    return sum(bytes_ for key, bytes_ in found.items() if key.endswith(suffix))


def remove(place: RemotePath) -> None:
    """Delete an object; nothing happens if there is none."""
    _ask("delete", place, lambda store: store.delete(place.key))


def remove_folder(folder: RemotePath) -> None:
    """Delete all that lies below ``folder``."""
    keys = _listing(folder, deep=True).sizes
    in_parallel(remove, [replace(folder, key=key) for key in sorted(keys)])


def in_parallel(action: Callable[[A], T], items: Sequence[A]) -> list[T]:
    """The results for all items, in order; up to 16 threads, which mostly wait."""
    if len(items) < 2:
        return [action(item) for item in items]
    with ThreadPoolExecutor(min(_MAX_THREADS, len(items))) as pool:
        tasks = [pool.submit(copy_context().run, action, item) for item in items]
        try:
            return [task.result() for task in tasks]
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _listing(folder: RemotePath, *, deep: bool) -> Listing:
    return _ask("list", folder, lambda store: store.listing(folder.key, deep=deep))


def _ask(action: str, place: RemotePath, request: Callable[[ObjectStore], T]) -> T:
    def once() -> T:
        try:
            return request(_opened(place.scheme, place.authority, place.query, os.getpid()))
        except RequestError as error:
            problem = error
        # Raised outside the handler: the store's own message may hold keys.
        raise problem.as_store_error(action, place)

    return with_retries(once)


@functools.cache
def _opened(scheme: str, authority: str, query: str, process: int) -> ObjectStore:
    """One client for each bucket in each process; a client does not survive a fork."""
    return open_store(scheme, authority, query)
