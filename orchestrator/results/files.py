"""Every byte of the store goes through here: atomic writes, reads, and one kind of error.

Local and network-mounted folders only. A file appears whole under its name or not at all: data
are written to a temporary name in the same folder, flushed to the disk, then moved or linked to
their name, and the folder is flushed too. Temporary names start with a dot and end in ``.tmp``.
Every OSError becomes a StoreError with the path and the reason.
"""

import fcntl
import glob
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from orchestrator.results.errors import CorruptFileError, StoreError

__all__ = [
    "check_writable",
    "exclusive",
    "file_size",
    "list_folders",
    "list_names",
    "put",
    "put_if_absent",
    "put_json",
    "read_bytes",
    "read_json",
    "remove",
    "remove_folder",
    "remove_temporaries",
    "storage_folder",
    "store_errors",
    "to_json",
    "writing",
]

_TEMPORARY_SUFFIX = ".tmp"
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_GUARD_POLL_SECONDS = 0.01


def storage_folder(storage: str | Path) -> Path:
    """The folder a study's ``storage`` names, with ``~`` expanded.

    Raises:
        StoreError: ``storage`` has a scheme. Only the scheme is shown, since such addresses may
            hold credentials.
    """
    scheme = _SCHEME.match(str(storage))
    if scheme:
        raise StoreError(
            f"storage with the scheme {scheme[1]}:// is not supported: only local and"
            " network-mounted folders are supported yet"
        )
    return Path(storage).expanduser()


def check_writable(folder: Path) -> None:
    """Raise StoreError if files could not be written in ``folder``; leaves nothing behind.

    A missing folder is not made: its nearest existing ancestor is tried.
    """
    with store_errors("write in", folder):
        nearest = folder.absolute()
        while not _exists(nearest):
            nearest = nearest.parent
        probe = _temporary(nearest / "probe")
        probe.touch(exist_ok=False)
        probe.unlink()


def put(path: Path, data: bytes) -> None:
    """Write a file whole, replacing what has that name. Missing folders are made."""
    with writing(path) as file:
        file.write(data)


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """A file open for writing that gets its name when the block ends without an exception."""
    with store_errors("write", path), _temporary_for(path) as temporary:
        with temporary.open("xb") as file:
            yield file
            _flush(file)
        temporary.replace(path)
        _flush_folder(path.parent)


def put_if_absent(path: Path, data: bytes) -> bool:
    """Write a file whole unless one has that name; True if this call made it.

    Of several callers at the same time exactly one gets True.
    """
    with store_errors("write", path), _temporary_for(path) as temporary:
        with temporary.open("xb") as file:
            file.write(data)
            _flush(file)
        try:
            path.hardlink_to(temporary)
        except FileExistsError:
            # A network file system may repeat a link request whose answer was lost.
            return temporary.samefile(path)
        _flush_folder(path.parent)
        return True


def to_json(value: Any) -> bytes:
    """JSON for people and machines; ValueError for NaN and infinities."""
    return json.dumps(value, allow_nan=False, ensure_ascii=False, indent=1).encode() + b"\n"


def put_json(path: Path, value: Any) -> None:
    """Write a JSON file whole, replacing what has that name."""
    put(path, to_json(value))


def read_bytes(path: Path) -> bytes | None:
    """The content of a file; None if there is none of that name."""
    with store_errors("read", path):
        try:
            with path.open("rb") as file:
                return file.read()
        except FileNotFoundError:
            return None


def read_json(path: Path) -> dict[str, Any] | None:
    """The object in a JSON file; None if there is no such file.

    Raises:
        CorruptFileError: the file is truncated, not JSON, or holds no object.
    """
    data = read_bytes(path)
    if data is None:
        return None
    try:
        value = json.loads(data)
    except ValueError as error:
        raise CorruptFileError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise CorruptFileError(f"{path} holds a JSON {type(value).__name__}, not an object")
    return value


def list_names(folder: Path, suffix: str) -> list[str]:
    """Sorted names of the files in ``folder`` that end in ``suffix``, temporaries left out.

    A missing folder is an empty one.
    """
    with store_errors("list", folder):
        try:
            names = os.listdir(folder)  # noqa: PTH208 - names only, ten times as fast as iterdir
        except FileNotFoundError:
            return []
    return sorted(name for name in names if name.endswith(suffix) and not name.startswith("."))


def file_size(path: Path) -> int:
    """Bytes of a file; 0 if there is none of that name."""
    with store_errors("look at", path):
        try:
            return path.stat().st_size
        except FileNotFoundError:
            return 0


def list_folders(folder: Path) -> list[Path]:
    """Sorted subfolders; a missing folder is an empty one."""
    with store_errors("list", folder):
        try:
            with os.scandir(folder) as entries:
                return sorted(Path(entry.path) for entry in entries if entry.is_dir())
        except FileNotFoundError:
            return []


def remove(path: Path) -> None:
    """Delete a file; nothing happens if there is none."""
    with store_errors("delete", path):
        path.unlink(missing_ok=True)


def remove_folder(folder: Path) -> None:
    """Delete a folder and all it holds; nothing happens if there is none."""
    with store_errors("delete", folder):
        try:
            shutil.rmtree(folder)
        except FileNotFoundError:
            return


def remove_temporaries(folder: Path, beginning: str = "") -> None:
    """Delete what killed writers left in ``folder``; only safe where nobody is writing.

    Args:
        folder: may be missing.
        beginning: of the names of the files that they were writing.
    """
    with store_errors("clean", folder):
        for leftover in folder.glob(f".{glob.escape(beginning)}*{_TEMPORARY_SUFFIX}"):
            leftover.unlink(missing_ok=True)


@contextmanager
def exclusive(guard: Path, *, limit_seconds: float) -> Iterator[bool]:
    """Hold ``guard`` against other processes; False if it was not free within the limit.

    The operating system frees it when its holder dies.
    """
    with store_errors("lock", guard):
        _make_folder(guard.parent)
        descriptor = os.open(guard, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        yield _is_locked_within(guard, descriptor, limit_seconds)
    finally:
        os.close(descriptor)


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


@contextmanager
def store_errors(action: str, path: Path) -> Iterator[None]:
    """Turn an OSError within the block into a StoreError: cannot ``action`` ``path``."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        culprit = error.filename
        place = f" ({culprit})" if culprit and str(culprit) != str(path) else ""
        raise StoreError(f"cannot {action} {path}: {reason}{place}") from error


@contextmanager
def _temporary_for(path: Path) -> Iterator[Path]:
    _make_folder(path.parent)
    temporary = _temporary(path)
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}{_TEMPORARY_SUFFIX}")


def _make_folder(folder: Path) -> None:
    """Make a folder and its ancestors, each flushed into its parent."""
    if folder.is_dir():
        return
    if folder.parent != folder:
        _make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    _flush_folder(folder.parent)


def _flush(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _exists(path: Path) -> bool:
    """Whether the name is taken; a file in the way of ``path`` shows as its ancestor."""
    return path.exists() or path.is_symlink()
