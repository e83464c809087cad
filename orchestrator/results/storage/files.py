"""Whole-file operations of the store, alike for local and remote places.

A place is a path of this machine (`local_files`) or one that a URI names (`remote_files`). Both
keep the same promises: a file appears whole under its name or not at all, a missing file is None
or empty, transient errors are retried (`transient_errors`), and what cannot be done is a
StoreError with the place and the reason. All reads and writes of the store go through here.

What is read is bounded: a record (JSON, YAML) by `RECORD_BYTES`, any other file by the memory of
this machine. Names with control characters, which podium never writes, are refused wherever files
are listed, so that no message shows one.
"""

import fcntl
import json
import math
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from orchestrator.results.storage import local_files, remote_files
from orchestrator.results.storage.local_files import store_errors
from orchestrator.results.storage.locations import Place, RemotePath
from orchestrator.results.storage.printable_text import has_control_characters, one_line
from orchestrator.results.storage.transient_errors import with_retries
from podium.errors import CorruptFileError

__all__ = [
    "RECORD_BYTES",
    "check_writable",
    "contents",
    "exclusive",
    "exists",
    "file_size",
    "list_below",
    "list_folders",
    "list_names",
    "list_studies",
    "put",
    "put_if_absent",
    "put_json",
    "read_bytes",
    "read_json",
    "read_record",
    "read_records",
    "remove",
    "remove_all",
    "remove_folder",
    "remove_temporaries",
    "to_json",
    "total_size",
    "writing",
]

RECORD_BYTES = 64 * 2**20
"""Most bytes of a JSON or YAML file: a manifest of half a million trials has fewer."""

_GUARD_POLL_SECONDS = 0.01
_SHOWN = 40  # characters that a message shows of a refused number


def check_writable(folder: Place) -> None:
    """Raise StoreError if files could not be written in ``folder``; leaves nothing behind.

    A missing folder is not made: its nearest existing ancestor is probed.
    """
    if isinstance(folder, RemotePath):
        remote_files.check_writable(folder)
    else:
        with_retries(partial(local_files.check_writable, folder))


def put(path: Place, data: bytes) -> None:
    """Write a file whole, replacing what has that name. Missing folders are made."""
    if isinstance(path, RemotePath):
        remote_files.put(path, data)
    else:
        with_retries(partial(local_files.put, path, data))


@contextmanager
def writing(path: Place) -> Iterator[BinaryIO]:
    """A file open for writing that gets its name when the block ends without an exception.

    A remote one is collected in a temporary file of this machine and sent at the end.
    """
    if isinstance(path, Path):
        with local_files.writing(path) as file:
            yield file
        return
    with tempfile.TemporaryDirectory(prefix="podium-") as folder:
        gathered = Path(folder) / "gathered"
        with store_errors(f"gather {path} in", gathered), gathered.open("xb") as file:
            yield file
        remote_files.put(path, gathered)


def put_if_absent(path: Place, data: bytes) -> bool:
    """Write a file whole unless one has that name; True if this call made it.

    Of several callers at the same time exactly one gets True; `docs/storage.md` says of which
    remote stores that is not promised.
    """
    if isinstance(path, RemotePath):
        return remote_files.put_if_absent(path, data)
    return local_files.put_if_absent(path, data)


def to_json(value: Any) -> bytes:
    """JSON for people and machines; ValueError for NaN and infinities."""
    return json.dumps(value, allow_nan=False, ensure_ascii=False, indent=1).encode() + b"\n"


def put_json(path: Place, value: Any) -> None:
    """Write a JSON file whole, replacing what has that name."""
    put(path, to_json(value))


def read_bytes(path: Place) -> bytes | None:
    """The content of a file; None if there is none of that name.

    Raises:
        CorruptFileError: it is no regular file, or larger than the memory of this machine.
    """
    return _read(path, remote_files.MEMORY_BYTES)


def read_record(path: Place) -> bytes | None:
    """The content of a JSON or YAML file; None if there is none of that name.

    Raises:
        CorruptFileError: it is no regular file, or has more than `RECORD_BYTES`.
    """
    return _read(path, RECORD_BYTES)


def read_records(paths: Sequence[Place]) -> Iterator[bytes | None]:
    """As `read_record`, of many files in order; remote ones are read several at once."""
    if any(isinstance(path, RemotePath) for path in paths):
        yield from remote_files.in_parallel(read_record, paths)
    else:
        yield from map(read_record, paths)


def _read(path: Place, max_bytes: int) -> bytes | None:
    if isinstance(path, RemotePath):
        return remote_files.read_bytes(path, max_bytes)
    return with_retries(partial(local_files.read_bytes, path, max_bytes))


def read_json(path: Place, content: bytes | None = None) -> dict[str, Any] | None:
    """The object in a JSON file; None if there is no such file.

    Args:
        path: file to read.
        content: its bytes, if they were read already.

    Raises:
        CorruptFileError: the file is truncated, not JSON, or holds no object, or a number that is
            not finite.
    """
    data = read_record(path) if content is None else content
    if data is None:
        return None
    try:
        value = json.loads(data, parse_float=_finite, parse_constant=_finite)
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
        raise ValueError(f"{text[:_SHOWN]} is no number that a study holds")
    return value


def list_names(folder: Place, suffix: str) -> list[str]:
    """Sorted names of the files in ``folder`` that end in ``suffix``, temporaries left out.

    A missing folder is an empty one.

    Raises:
        CorruptFileError: a name holds control characters.
    """
    if isinstance(folder, RemotePath):
        names = remote_files.list_names(folder, suffix)
    else:
        names = with_retries(partial(local_files.list_names, folder, suffix))
    _check_names(folder, names)
    return names


def file_size(path: Place) -> int:
    """Bytes of a file; 0 if there is none of that name."""
    return _size(path) or 0


def exists(path: Place) -> bool:
    """Whether there is a file of that name, not a folder in a remote store."""
    return _size(path) is not None


def _size(path: Place) -> int | None:
    if isinstance(path, RemotePath):
        return remote_files.size(path)
    return with_retries(partial(local_files.size, path))


def total_size(folder: Place, suffix: str) -> int:
    """Bytes of all files in ``folder`` that end in ``suffix``."""
    if isinstance(folder, RemotePath):
        return remote_files.total_size(folder, suffix)
    return sum(file_size(folder / name) for name in list_names(folder, suffix))


def list_folders(folder: Place) -> list[Place]:
    """Sorted subfolders; a missing folder is an empty one.

    Raises:
        CorruptFileError: one is a link, or its name holds control characters.
    """
    found = _folders(folder, with_links=False)
    _check_names(folder, [below.name for below in found])
    return found


def list_studies(storage: Place) -> list[Place]:
    """Sorted subfolders of a storage, which may hold anything; links to folders are folders."""
    return _folders(storage, with_links=True)


def _folders(folder: Place, *, with_links: bool) -> list[Place]:
    if isinstance(folder, RemotePath):
        return [*remote_files.list_folders(folder)]
    return [*with_retries(partial(local_files.list_folders, folder, with_links=with_links))]


def list_below(folder: Place, suffix: str) -> list[Place]:
    """Sorted files in the subfolders of ``folder`` that end in ``suffix``, no temporaries.

    Raises:
        CorruptFileError: a subfolder is a link, or a name holds control characters.
    """
    if isinstance(folder, RemotePath):
        files = remote_files.list_below(folder, suffix)
        _check_names(folder, [str(file.relative_to(folder)) for file in files])
        return [*files]
    return [below / name for below in list_folders(folder) for name in list_names(below, suffix)]


def contents(folder: Place) -> list[tuple[str, str]]:
    """Path relative to a folder, and kind, of everything below it, sorted; links are not followed.

    The kind is ``file``, ``folder``, or what else it is, such as ``a symbolic link``. In remote
    stores there are files alone.
    """
    if isinstance(folder, RemotePath):
        return [(name, "file") for name in remote_files.list_all(folder)]
    return sorted(with_retries(partial(local_files.contents, folder)))


def _check_names(folder: Place, names: Sequence[str]) -> None:
    for name in names:
        if has_control_characters(name):
            raise CorruptFileError(
                f"{folder} holds '{one_line(name)}', a name with control characters, which podium"
                " never writes; delete it"
            )


def remove(path: Place) -> None:
    """Delete a file; nothing happens if there is none."""
    if isinstance(path, RemotePath):
        remote_files.remove(path)
    else:
        with_retries(partial(local_files.remove, path))


def remove_all(paths: Sequence[Place]) -> None:
    """Delete files, remote ones several at once; nothing happens if there is none."""
    if any(isinstance(path, RemotePath) for path in paths):
        remote_files.in_parallel(remove, paths)
    else:
        for path in paths:
            remove(path)


def remove_folder(folder: Place) -> None:
    """Delete a folder and all it holds; nothing happens if there is none."""
    if isinstance(folder, RemotePath):
        remote_files.remove_folder(folder)
    else:
        with_retries(partial(local_files.remove_folder, folder))


def remove_temporaries(folder: Place, beginning: str = "") -> None:
    """Delete what killed writers left in ``folder``; only safe where no process is writing.

    Args:
        folder: folder to clean; may be missing.
        beginning: how the names of the files begin that they were writing; empty for all files.
    """
    if isinstance(folder, Path):
        with_retries(partial(local_files.remove_temporaries, folder, beginning))


@contextmanager
def exclusive(guard: Path, *, limit_seconds: float) -> Iterator[bool]:
    """Hold ``guard`` against other processes; False if it was not free within the limit.

    The operating system frees it when its holder dies.
    """
    descriptor = with_retries(partial(_opened_guard, guard))
    try:
        yield with_retries(partial(_is_locked_within, guard, descriptor, limit_seconds))
    finally:
        os.close(descriptor)


def _opened_guard(guard: Path) -> int:
    with store_errors("lock", guard):
        local_files.make_folder(guard.parent)
        return local_files.open_regular(guard, os.O_RDWR | os.O_CREAT)


def _is_locked_within(guard: Path, descriptor: int, limit_seconds: float) -> bool:
    deadline = time.monotonic() + limit_seconds
    with store_errors("lock", guard):
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                if time.monotonic() > deadline:
                    return False
            time.sleep(_GUARD_POLL_SECONDS)
