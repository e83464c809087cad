"""Whole-file operations of the store, alike for local and remote places.

A place is a path of this machine (`local_files`) or one that a URI names (`remote_files`). Both
keep the same promises: a file appears whole under its name or not at all, a missing file is None
or empty, transient errors are retried (`transient_errors`), and what cannot be done is a
StoreError with the place and the reason. All reads and writes of the store go through here.

What is read is bounded: a record (JSON, YAML) by `RECORD_BYTES`, any other file by the memory of
this machine. Names with control characters, which podium never writes, are refused wherever files
are listed, so that no message shows one.
"""

import json
import math
import os
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeVar

from orchestrator.results.storage import local_files, remote_files
from orchestrator.results.storage.file_guard import exclusive
from orchestrator.results.storage.locations import FileVersion, Place, RemotePath, StoredFile
from podium.errors import CorruptFileError, StoreError

RECORD_BYTES = 64 * 2**20
"""Most bytes of a JSON or YAML file: a listing of two million trials has fewer."""

_MEMORY_BYTES = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
_GUARD_LIMIT_SECONDS = 10.0
_SHOWN = 40  # characters that a message shows of a refused number

T = TypeVar("T")


class _Files(Protocol):
    """What `local_files` and `remote_files` both have, each for its kind of `Place`."""

    def check_writable(self, folder: Any, /) -> None: ...
    def put(self, path: Any, data: bytes, /) -> None: ...
    def writing(self, path: Any, /) -> AbstractContextManager[BinaryIO]: ...
    def put_if_absent(self, path: Any, data: bytes, /) -> bool: ...
    def read_bytes(self, path: Any, max_bytes: int, /) -> bytes | None: ...
    def read_if_changed(
        self, path: Any, max_bytes: int, known: Hashable | None, /
    ) -> FileVersion | None: ...
    def size(self, path: Any, /) -> int | None: ...
    def list_names(self, folder: Any, suffix: str, /) -> list[str]: ...
    def total_size(self, folder: Any, suffix: str, /) -> int: ...
    def list_folders(self, folder: Any, /) -> Sequence[Place]: ...
    def list_studies(self, storage: Any, /) -> Sequence[Place]: ...
    def list_below(self, folder: Any, suffix: str, /) -> Sequence[Place]: ...
    def contents(self, folder: Any, /) -> list[tuple[str, str]]: ...
    def stored_files(self, folder: Any, /) -> list[StoredFile]: ...
    def change_of_names(self, folder: Any, /) -> int | None: ...
    def refuse_links(self, folder: Any, /, *, deep: bool) -> None: ...
    def remove(self, path: Any, /) -> None: ...
    def remove_all(self, paths: Sequence[Any], /) -> None: ...
    def remove_folder(self, folder: Any, /) -> None: ...
    def remove_if_empty(self, folder: Any, /) -> None: ...
    def remove_temporaries(self, folder: Any, beginning: str, /) -> None: ...


def _of(place: Place) -> _Files:
    return remote_files if isinstance(place, RemotePath) else local_files


def each(action: Callable[[Place], T], places: Sequence[Place]) -> Iterable[T]:
    """The results for all places in order; of remote ones several at once."""
    if any(isinstance(place, RemotePath) for place in places):
        return remote_files.in_parallel(action, places)
    return map(action, places)


def check_writable(folder: Place) -> None:
    """Raise StoreError if files could not be written in ``folder``; leaves nothing behind.

    A missing folder is not made: its nearest existing ancestor is probed.
    """
    _of(folder).check_writable(folder)


def put(path: Place, data: bytes) -> None:
    """Write a file whole, replacing what has that name. Missing folders are made."""
    _of(path).put(path, data)


def writing(path: Place) -> AbstractContextManager[BinaryIO]:
    """A file open for writing that gets its name when the block ends without an exception.

    A remote one is collected in a temporary file of this machine and sent at the end.
    """
    return _of(path).writing(path)


def put_if_absent(path: Place, data: bytes) -> bool:
    """Write a file whole unless one has that name; True if this call made it.

    Of several callers at the same time exactly one gets True.
    """
    return _of(path).put_if_absent(path, data)


def replace(
    path: Place, data: bytes, guard: Place, is_known: Callable[[bytes | None], bool]
) -> None:
    """Write a file whole where what it replaces is what the caller thinks it is.

    Between that look and the write no other caller replaces the file, however long this one is
    held up: in a remote store the write is refused then, and a local file is guarded.

    Args:
        path: the file.
        data: its new content.
        guard: a file that is held meanwhile, where both are local.
        is_known: whether the present content, None without such a file, may be replaced.

    Raises:
        StoreError: the file cannot be written, or is another process's by now, which stays.
        CorruptFileError: what is there is no regular file, or has more than `RECORD_BYTES`.
    """
    if isinstance(path, RemotePath):
        is_replaced = remote_files.replace(path, data, RECORD_BYTES, is_known)
    else:
        is_replaced = _replace_under_guard(path, data, guard, is_known)
    if not is_replaced:
        raise StoreError(
            f"{path} was replaced by another process meanwhile: two runs seem to use this study"
        )


def _replace_under_guard(
    path: Path, data: bytes, guard: Place, is_known: Callable[[bytes | None], bool]
) -> bool:
    assert isinstance(guard, Path), "a guard lies where its file does"
    with exclusive(guard, limit_seconds=_GUARD_LIMIT_SECONDS) as is_alone:
        if not is_alone:
            raise StoreError(f"cannot write {path}: another process is replacing it; try again")
        if not is_known(local_files.read_bytes(path, RECORD_BYTES)):
            return False
        local_files.put(path, data)
        return True


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
    return _of(path).read_bytes(path, _MEMORY_BYTES)


def read_record(path: Place) -> bytes | None:
    """The content of a JSON or YAML file; None if there is none of that name.

    Raises:
        CorruptFileError: it is no regular file, or has more than `RECORD_BYTES`.
    """
    return _of(path).read_bytes(path, RECORD_BYTES)


def read_record_if_changed(path: Place, known: Hashable | None) -> FileVersion | None:
    """The content of a JSON or YAML file, unless it is the one that was read before.

    A replacement is noticed however soon it follows: what is replaced whole gets another inode or
    another tag. Inodes may be used again, so a local file counts as the same only if it was a few
    seconds old when it was read; one that comes after has a later time.

    Args:
        path: the file.
        known: mark of the version that the caller has; None if it has none.

    Returns:
        The version there is now; None if that is the known one.

    Raises:
        CorruptFileError: it is no regular file, or has more than `RECORD_BYTES`.
    """
    return _of(path).read_if_changed(path, RECORD_BYTES, known)


def read_records(paths: Sequence[Place]) -> Iterable[bytes | None]:
    """As `read_record`, of many files in order; remote ones are read several at once."""
    return each(read_record, paths)


def read_json(path: Place) -> dict[str, Any] | None:
    """The object in a JSON file; None if there is no such file.

    Raises:
        CorruptFileError: as `parse_json`.
    """
    return parse_json(path, read_record(path))


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


def list_names(folder: Place, suffix: str) -> list[str]:
    """Sorted names of the files in ``folder`` that end in ``suffix``, temporaries left out.

    A missing folder is an empty one.

    Raises:
        CorruptFileError: a name holds control characters.
    """
    return _of(folder).list_names(folder, suffix)


def file_size(path: Place) -> int:
    """Bytes of a file; 0 if there is none of that name."""
    return _of(path).size(path) or 0


def exists(path: Place) -> bool:
    """Whether there is a file of that name, not a folder in a remote store."""
    return _of(path).size(path) is not None


def total_size(folder: Place, suffix: str) -> int:
    """Bytes of all files in ``folder`` that end in ``suffix``."""
    return _of(folder).total_size(folder, suffix)


def list_folders(folder: Place) -> Sequence[Place]:
    """Sorted subfolders; a missing folder is an empty one.

    Raises:
        CorruptFileError: one is a link, or its name holds control characters.
    """
    return _of(folder).list_folders(folder)


def list_studies(storage: Place) -> Sequence[Place]:
    """Sorted subfolders of a storage, which may hold anything; links to folders are folders."""
    return _of(storage).list_studies(storage)


def list_below(folder: Place, suffix: str) -> Sequence[Place]:
    """Sorted files in the subfolders of ``folder`` that end in ``suffix``, no temporaries.

    Raises:
        CorruptFileError: a subfolder is a link, or a name holds control characters.
    """
    return _of(folder).list_below(folder, suffix)


def contents(folder: Place) -> list[tuple[str, str]]:
    """Path relative to a folder, and kind, of everything below it, sorted; links are not followed.

    The kind is ``file``, ``folder``, or what else it is, such as ``a symbolic link``. In remote
    stores there are files alone.
    """
    return _of(folder).contents(folder)


def stored_files(folder: Place) -> list[StoredFile]:
    """Every file below a folder at any depth, sorted by path; links are not followed.

    Links, pipes and devices are left out. Of a remote folder by one listing.
    """
    return _of(folder).stored_files(folder)


def change_of_names(folder: Place) -> int | None:
    """A number that changes when a file right in a folder appears, vanishes or is replaced whole.

    None where it does not tell: in remote stores, of a missing folder, and for two seconds after
    a change, as the next change may get the same time.
    """
    return _of(folder).change_of_names(folder)


def refuse_links(folder: Place, *, deep: bool) -> None:
    """Refuse symbolic links in a folder, before anything in it is read, replaced or deleted.

    The folder itself may be a link. Links further below are refused, too, where folders are listed
    and files are opened.

    Args:
        folder: folder to look through.
        deep: refuse links, pipes and devices at any depth; else links right in it alone.

    Raises:
        CorruptFileError: there is one, and it is named.
    """
    _of(folder).refuse_links(folder, deep=deep)


def remove(path: Place) -> None:
    """Delete a file; nothing happens if there is none."""
    _of(path).remove(path)


def remove_all(paths: Sequence[Place]) -> None:
    """Delete files of one store, remote ones many at once; nothing happens if there is none."""
    if paths:
        _of(paths[0]).remove_all(paths)


def remove_folder(folder: Place) -> None:
    """Delete a folder and all it holds; nothing happens if there is none."""
    _of(folder).remove_folder(folder)


def remove_if_empty(folder: Place) -> None:
    """Delete a folder that holds nothing; nothing happens to another, or if there is none."""
    _of(folder).remove_if_empty(folder)


def remove_temporaries(folder: Place, beginning: str = "") -> None:
    """Delete what killed writers left in ``folder``; only safe where no process is writing.

    Args:
        folder: folder to clean; may be missing.
        beginning: how the names of the files begin that they were writing; empty for all files.
    """
    _of(folder).remove_temporaries(folder, beginning)
