"""Whole-file operations of the store, alike for local and remote places.

A place is a path of this machine (`local_files`) or one that a URI names (`object_store`). Both
keep the same promises: a file appears whole under its name or not at all, a missing file is None
or empty, transient errors are retried (`transient_errors`), and what cannot be done is a
StoreError with the place and the reason. All reads and writes of the store go through here.

What is read is bounded: a record (JSON, YAML) by `RECORD_BYTES`, any other file by the memory of
this machine. Names with control characters, which podium never writes, are refused wherever files
are listed, so that no message shows one.
"""

import errno
import glob
import json
import math
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from orchestrator.results.storage import local_files
from orchestrator.results.storage.local_files import retried, walk
from orchestrator.results.storage.locations import (
    TEMPORARY_SUFFIX,
    Place,
    RemotePath,
    StoredFile,
    temporary_name,
)
from orchestrator.results.storage.object_store import ObjectStore, store_of
from orchestrator.results.storage.printable_text import has_control_characters, one_line
from orchestrator.results.storage.transient_errors import RETRY_SECONDS, retrying_for
from podium.errors import CorruptFileError, StoreError

RECORD_BYTES = 64 * 2**20
"""Most bytes of a JSON or YAML file."""

_MEMORY_BYTES = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
_MAX_THREADS = 16
_MOST_DELETED = 1000  # objects by one request
_SHOWN = 40  # characters that a message shows of a refused number

A = TypeVar("A")
T = TypeVar("T")


def in_parallel(action: Callable[[A], T], items: Sequence[A]) -> list[T]:
    """The results for all items, in order; up to 16 threads, which mostly wait."""
    if len(items) < 2:
        return [action(item) for item in items]
    contexts = [copy_context() for _ in items]
    with ThreadPoolExecutor(min(_MAX_THREADS, len(items))) as pool:
        # After the first error those that wait are cancelled.
        return list(pool.map(lambda context, item: context.run(action, item), contexts, items))


def each(action: Callable[[Place], T], places: Sequence[Place]) -> Iterable[T]:
    """The results for all places in order; of remote ones several at once."""
    if any(isinstance(place, RemotePath) for place in places):
        return in_parallel(action, places)
    return map(action, places)


def check_writable(folder: Place) -> None:
    """Raise StoreError if files could not be written in ``folder``; leaves nothing behind.

    A missing folder is not made: its nearest existing ancestor is probed. A remote store that
    ignores the condition of `put_if_absent` is refused too.
    """
    if not isinstance(folder, RemotePath):
        local_files.check_writable(folder)
        return
    probe = folder / temporary_name("probe")
    with retrying_for(RETRY_SECONDS):  # in all, and not each request
        try:
            put(probe, b"podium")
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
    if isinstance(path, RemotePath):
        store_of(path).write(path.key, data)
        return
    with local_files.writing(path) as file:
        file.write(data)


def put_if_absent(path: Place, data: bytes) -> bool:
    """Write a file whole unless one has that name; True if this call made it.

    Of several callers at the same time exactly one gets True.
    """
    if isinstance(path, RemotePath):
        token = secrets.token_hex(16)
        if _ask("write", path, lambda store: store.create(path.key, data, token)):
            return True
        # Ours all the same, if it was made by an attempt whose answer was lost.
        return _ask("look at", path, lambda store: store.has_token(path.key, token))
    return local_files.create(path, data)


def _ask(action: str, place: RemotePath, request: Callable[[ObjectStore], T]) -> T:
    """One request, which is retried by itself."""
    return retried(action)(lambda place: request(store_of(place)))(place)


def to_json(value: Any) -> bytes:
    """JSON for people and machines; ValueError for NaN and infinities."""
    return json.dumps(value, allow_nan=False, ensure_ascii=False, indent=1).encode() + b"\n"


def read_bytes(path: Place) -> bytes | None:
    """The content of a file; None if there is none of that name.

    Raises:
        CorruptFileError: it is no regular file, or larger than memory.
    """
    return _read(path, _MEMORY_BYTES)


def read_record(path: Place) -> bytes | None:
    """The content of a JSON or YAML file; None if there is none of that name.

    Raises:
        CorruptFileError: it is no regular file, or has more than `RECORD_BYTES`.
    """
    return _read(path, RECORD_BYTES)


@retried("read")
def _read(path: Place, max_bytes: int) -> bytes | None:
    if isinstance(path, RemotePath):
        return store_of(path).read(path.key, partial(_check_size, path, max_bytes))
    try:
        descriptor = local_files.open_regular(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        _check_size(path, max_bytes, os.fstat(descriptor).st_size)
        return file.read()


def _check_size(path: Place, max_bytes: int, num_bytes: int) -> None:
    if num_bytes > max_bytes:
        raise CorruptFileError(
            f"{path} has {num_bytes:,} bytes, and was not read: a file of its kind has at most"
            f" {max_bytes:,}. Restore the file from a copy"
        )


def parse_json(path: Place, content: bytes | None) -> dict[str, Any] | None:
    """The object in the bytes of a JSON file; None if there is no such file.

    Raises:
        CorruptFileError: the file is truncated, not JSON, or holds no object, or a number that is
            not finite.
    """
    if content is None:
        return None
    try:
        value = json.loads(content, parse_float=_finite, parse_constant=_finite)
    except ValueError as error:
        raise CorruptFileError(f"{path} is not valid JSON: {error}") from error
    except RecursionError:
        raise CorruptFileError(f"{path} is nested too deeply for a file of a study") from None
    if not isinstance(value, dict):
        raise CorruptFileError(f"{path} holds a JSON {type(value).__name__}, not an object")
    return value


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:_SHOWN]} is not a number that a study can hold")
    return value


@retried("look at")
def exists(path: Place) -> bool:
    """Whether there is a file; CorruptFileError for what else there is in a local place."""
    if isinstance(path, RemotePath):
        return store_of(path).exists(path.key)
    with suppress(FileNotFoundError):
        local_files.check_regular(path)
        return True
    return False


@retried("list")
def contents(folder: Place, *, deep: bool = True) -> list[tuple[str, str]]:
    """Path in a folder, and kind, of what lies in it, sorted; links are not followed.

    The kind is ``file``, ``folder``, or what else it is, such as ``a symbolic link``. At any depth
    of a remote store there are files alone.

    Args:
        folder: where to look; a missing one is empty.
        deep: whether all that lies below it comes too.
    """
    if not isinstance(folder, RemotePath):
        return sorted((path, kind) for path, kind, _ in walk(folder, deep=deep))
    if deep:
        return [(file.path, "file") for file in store_of(folder).list_deep(folder.key)]
    names, folders = store_of(folder).list_directly(folder.key)
    return sorted([*((it, "file") for it in names), *((it, "folder") for it in folders)])


def _checked(folder: Place, names: list[str]) -> list[str]:
    for name in names:
        if has_control_characters(name):
            raise CorruptFileError(
                f"{folder} holds '{one_line(name)}', a name with control characters, which podium"
                " never writes; delete it"
            )
    return names


def list_names(folder: Place, suffix: str) -> list[str]:
    """Sorted names of the files in ``folder`` that end in ``suffix``, temporaries left out.

    A missing folder is an empty one. CorruptFileError for a name with control characters.
    """
    names = [name for name, _ in contents(folder, deep=False) if not name.startswith(".")]
    return _checked(folder, [name for name in names if name.endswith(suffix)])


def list_folders(folder: Place) -> Sequence[Place]:
    """Sorted subfolders; CorruptFileError for a link, or a name with control characters."""
    found = contents(folder, deep=False)
    for name, kind in found:
        if kind == "a symbolic link":
            raise local_files.not_regular(f"{folder}/{name}", kind)
    names = _checked(folder, [name for name, kind in found if kind == "folder"])
    return [folder / name for name in names]


def list_studies(storage: Place) -> Sequence[Place]:
    """Sorted subfolders of a storage, which may hold anything; links to folders are folders."""
    found = [(storage / name, kind) for name, kind in contents(storage, deep=False)]
    return [
        place
        for place, kind in found
        if kind == "folder" or (not isinstance(place, RemotePath) and place.is_dir())
    ]


def list_below(folder: Place, suffix: str) -> Sequence[Place]:
    """Sorted files in the subfolders of ``folder`` that end in ``suffix``, no temporaries.

    Of a remote folder by one listing. Raises as `list_folders` and `list_names`.
    """
    if not isinstance(folder, RemotePath):
        return [
            below / name for below in list_folders(folder) for name in list_names(below, suffix)
        ]
    paths = [path for path, _ in contents(folder) if path.count("/") == 1 and "/." not in path]
    return [folder / path for path in _checked(folder, paths) if path.endswith(suffix)]


@retried("list")
def stored_files(folder: Place) -> list[StoredFile]:
    """Every file below a folder at any depth, sorted by path; links are not followed.

    Links, pipes and devices are left out, and what vanishes meanwhile.
    """
    if isinstance(folder, RemotePath):
        return store_of(folder).list_deep(folder.key)
    found = []
    for path, kind, entry in walk(folder, deep=True):
        if kind == "file":
            with suppress(FileNotFoundError):
                status = entry.stat(follow_symlinks=False)
                changed_at = datetime.fromtimestamp(status.st_mtime, UTC)
                found.append(StoredFile(path, status.st_size, changed_at))
    return sorted(found)


def total_size(folder: Place, suffix: str) -> int:
    """Bytes of all files in ``folder`` that end in ``suffix``."""
    files = [file for file in stored_files(folder) if "/" not in file.path]
    return sum(file.num_bytes for file in files if file.path.endswith(suffix))


def refuse_links(folder: Place, *, deep: bool) -> None:
    """Raise CorruptFileError for links in a folder, before anything in it is read or deleted.

    The folder itself may be a link. Links further below are refused, too, where folders are listed
    and files are opened.

    Args:
        folder: folder to look through; in a remote one there are none.
        deep: refuse links, pipes and devices at any depth; else those right in it alone.
    """
    for name, kind in () if isinstance(folder, RemotePath) else contents(folder, deep=deep):
        if kind not in ("file", "folder"):
            raise local_files.not_regular(f"{folder}/{name}", kind)


def remove(path: Place) -> None:
    """Delete a file; nothing happens if there is none."""
    _remove(path, [path])


@retried("delete")
def _remove(first: Place, paths: Sequence[Place]) -> None:
    """Delete files: of a disk one, of a bucket what one request may name."""
    if isinstance(first, RemotePath):
        store_of(first).delete([path.key for path in paths if isinstance(path, RemotePath)])
    else:
        first.unlink(missing_ok=True)


def remove_all(paths: Sequence[Place]) -> None:
    """Delete files of one store, remote ones many at once; nothing happens if there is none."""
    if any(isinstance(place, RemotePath) and place.scheme == "s3" for place in paths):
        for start in range(0, len(paths), _MOST_DELETED):
            _remove(paths[start], paths[start : start + _MOST_DELETED])
    else:
        list(each(remove, paths))


def remove_folder(folder: Place) -> None:
    """Delete a folder and all it holds; nothing happens if there is none."""
    if isinstance(folder, RemotePath):
        remove_all([folder / path for path, _ in contents(folder)])
    else:
        _remove_tree(folder)


@retried("delete")
def _remove_tree(folder: Path) -> None:
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)


@retried("delete")
def remove_if_empty(folder: Place) -> None:
    """Delete a folder that holds nothing; nothing happens to another, or if there is none."""
    if isinstance(folder, RemotePath):
        return  # which is not there if it holds nothing
    try:
        folder.rmdir()
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST):
            raise


@retried("clean")
def remove_temporaries(folder: Place, beginning: str = "") -> None:
    """Delete what killed writers left in ``folder``; only safe where no process is writing.

    Args:
        folder: folder to clean; may be missing. In a remote one there is nothing of that kind.
        beginning: how the names of the files begin that they were writing; empty for all files.
    """
    if not isinstance(folder, RemotePath):
        for leftover in folder.glob(f".{glob.escape(beginning)}*{TEMPORARY_SUFFIX}"):
            leftover.unlink(missing_ok=True)


@retried("write")
def append(path: Place, data: bytes, num_bytes: int, *, is_safe: bool) -> None:
    """Write at the end of a local file, over what a write that failed left there.

    Args:
        path: the file, which this process made.
        data: what it gets.
        num_bytes: its size before.
        is_safe: whether the data survive loss of power from now on; else once others do.
    """
    assert isinstance(path, Path), "nothing can be appended to an object"
    descriptor = local_files.open_regular(path, os.O_WRONLY)
    try:
        while data:
            written = os.pwrite(descriptor, data, num_bytes)
            data, num_bytes = data[written:], num_bytes + written
        if is_safe:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
