"""The functions of `files` for a `RemotePath`.

Every object is written by one request and appears whole. Transient failures are retried
(`transient_errors`); others are a StoreError with the place and the reason.
"""

import functools
import os
import secrets
import tempfile
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import BinaryIO, TypeVar

from orchestrator.results.storage.local_files import check_names, check_size, store_errors
from orchestrator.results.storage.locations import (
    FileVersion,
    RemotePath,
    StoredFile,
    temporary_name,
)
from orchestrator.results.storage.object_store import (
    Listing,
    ObjectStore,
    ObjectVersion,
    RequestError,
)
from orchestrator.results.storage.object_store_clients import open_store
from orchestrator.results.storage.transient_errors import with_retries
from podium.errors import StoreError

_MAX_THREADS = 16
_PROBE_BYTES = 100
_MOST_DELETED = 1000  # objects by one request

A = TypeVar("A")
T = TypeVar("T")


def check_writable(folder: RemotePath) -> None:
    """See `files`; a store that ignores conditions is refused too."""
    probe = folder / temporary_name("probe")
    made = put_if_absent(probe, b"podium")
    try:
        again = put_if_absent(probe, b"podium again")
        before = _version(probe, _PROBE_BYTES)
        put(probe, b"podium anew")
        replaced = _replaces(probe, b"", before)
    finally:
        remove(probe)
    if not made or again or replaced:
        ignored = "If-Match" if made and not again else "If-None-Match: *"
        raise StoreError(
            f"cannot use {folder}: the store ignores `{ignored}`, so that two runs could"
            " overwrite each other's trials; Amazon S3, MinIO, Cloudflare R2 and Ceph support it"
            " in their present versions"
        )


def put(place: RemotePath, data: bytes | Path) -> None:
    """See `files`; a path is a local file to send."""
    _ask("write", place, lambda store: store.write(place.key, data))


@contextmanager
def writing(place: RemotePath) -> Iterator[BinaryIO]:
    """See `files`; collected in a temporary file of this machine, and sent at the end."""
    with tempfile.TemporaryDirectory(prefix="podium-") as folder:
        gathered = Path(folder) / "gathered"
        with store_errors(f"gather {place} in", gathered), gathered.open("xb") as file:
            yield file
        put(place, gathered)


def put_if_absent(place: RemotePath, data: bytes) -> bool:
    """See `files`."""
    token = secrets.token_hex(16)
    if _ask("write", place, lambda store: store.create(place.key, data, token)):
        return True
    # Ours all the same, if it was made by an attempt whose answer was lost.
    return _ask("look at", place, lambda store: store.has_token(place.key, token))


def replace(
    place: RemotePath, data: bytes, max_bytes: int, is_known: Callable[[bytes | None], bool]
) -> bool:
    """See `files`; False, and nothing changes, if the file is another by now."""
    while True:
        found = _version(place, max_bytes)
        if found.content == data:  # by a request whose answer was lost
            return True
        if not is_known(found.content):
            return False
        if _replaces(place, data, found):
            return True


def read_bytes(place: RemotePath, max_bytes: int) -> bytes | None:
    """See `files`; CorruptFileError for more than ``max_bytes``, which the store says before."""
    return _ask(
        "read",
        place,
        lambda store: store.read(place.key, lambda size: check_size(place, size, max_bytes)),
    )


def read_if_changed(
    place: RemotePath, max_bytes: int, known: Hashable | None
) -> FileVersion | None:
    """See `files`; by one request on the condition that the tag of the object is another."""
    found: FileVersion | None = _ask(
        "read",
        place,
        lambda store: store.read_if_changed(
            place.key, known, lambda size: check_size(place, size, max_bytes)
        ),
    )
    return found


def size(place: RemotePath) -> int | None:
    """See `files`."""
    return _ask("look at", place, lambda store: store.size(place.key))


def list_names(folder: RemotePath, suffix: str) -> list[str]:
    """See `files`."""
    names = (key.rpartition("/")[2] for key in _listing(folder, deep=False).sizes)
    found = sorted(name for name in names if name.endswith(suffix) and not name.startswith("."))
    check_names(folder, found)
    return found


def total_size(folder: RemotePath, suffix: str) -> int:
    """See `files`."""
    found = _listing(folder, deep=False).sizes
    return sum(bytes_ for key, bytes_ in found.items() if key.endswith(suffix))


def list_folders(folder: RemotePath) -> list[RemotePath]:
    """See `files`."""
    found = list_studies(folder)
    check_names(folder, [below.name for below in found])
    return found


def list_studies(storage: RemotePath) -> list[RemotePath]:
    """See `files`."""
    found = _listing(storage, deep=False).folders
    return sorted(storage / key.rpartition("/")[2] for key in found)


def list_below(folder: RemotePath, suffix: str) -> list[RemotePath]:
    """See `files`; by one listing."""
    found = [
        path
        for path in _paths_below(folder)
        if path.count("/") == 1 and path.endswith(suffix) and "/." not in path
    ]
    check_names(folder, found)
    return [folder / path for path in found]


def contents(folder: RemotePath) -> list[tuple[str, str]]:
    """See `files`."""
    return [(path, "file") for path in _paths_below(folder)]


def stored_files(folder: RemotePath) -> list[StoredFile]:
    """See `files`."""
    found = _listing(folder, deep=True)
    return sorted(
        StoredFile(_below(folder, key), num_bytes, found.changed_at[key])
        for key, num_bytes in found.sizes.items()
    )


def change_of_names(folder: RemotePath) -> None:
    """See `files`; stores have no folders that could change."""


def refuse_links(folder: RemotePath, *, deep: bool) -> None:
    """See `files`; there are none."""


def remove(place: RemotePath) -> None:
    """See `files`."""
    _ask("delete", place, lambda store: store.delete(place.key))


def remove_all(places: Sequence[RemotePath]) -> None:
    """See `files`; by one request for a thousand where the store has it."""
    for start in range(0, len(places), _MOST_DELETED):
        some = places[start : start + _MOST_DELETED]
        keys = [place.key for place in some]
        delete = partial(ObjectStore.delete_many, keys=keys)
        if len(some) == 1 or not _ask("delete", some[0], delete):
            in_parallel(remove, some)


def remove_folder(folder: RemotePath) -> None:
    """See `files`."""
    remove_all([folder / path for path in _paths_below(folder)])


def remove_if_empty(folder: RemotePath) -> None:
    """See `files`; a folder that holds nothing is none."""


def remove_temporaries(folder: RemotePath, beginning: str) -> None:
    """See `files`; there are none, since an object is written by one request."""


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


def _paths_below(folder: RemotePath) -> list[str]:
    return sorted(_below(folder, key) for key in _listing(folder, deep=True).sizes)


def _below(folder: RemotePath, key: str) -> str:
    return key.removeprefix(folder.key).strip("/")


def _version(place: RemotePath, max_bytes: int) -> ObjectVersion:
    def ask(store: ObjectStore) -> ObjectVersion:
        return store.read_version(place.key, lambda size: check_size(place, size, max_bytes))

    return _ask("read", place, ask)


def _replaces(place: RemotePath, data: bytes, known: ObjectVersion) -> bool:
    return _ask("write", place, lambda store: store.replace(place.key, data, known))


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
