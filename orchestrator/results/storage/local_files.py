"""The store in local and network-mounted folders.

A file appears whole under its name or not at all: data are written to a temporary name in the same
folder, flushed to the disk, then moved or linked to their name, and the folder is flushed too.
Temporary names start with a dot and end in ``.tmp``. Every OSError becomes a StoreError with the
path and the reason; a transient one an UnreachableError.

A results folder may come from anyone, so nothing in it is followed or waited for: what is read is
a regular file, not a link, a pipe or a device, and names that would forge lines of output are
refused. Both are a CorruptFileError that names them.
"""

import errno
import functools
import glob
import os
import shutil
import stat
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from orchestrator.results.storage.locations import (
    TEMPORARY_SUFFIX,
    FileVersion,
    StoredFile,
    temporary_name,
)
from orchestrator.results.storage.printable_text import has_control_characters, one_line
from orchestrator.results.storage.transient_errors import is_transient, with_retries
from orchestrator.results.storage.vanished_folders import check_not_vanished
from podium.errors import CorruptFileError, StoreError, UnreachableError

# Nothing is followed, no pipe is waited for, and no child process gets the file.
_CAUTIOUS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_SETTLED_NS = 2 * 10**9  # clocks of file systems are coarse, by up to two seconds
_KINDS = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)


F = TypeVar("F", bound=Callable[..., Any])


def retried(action: str) -> Callable[[F], F]:
    """Decorates a function whose first argument is a path: to ``action`` it.

    Its OSError is a StoreError, and while that is transient the function is called again.
    """

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def call(path: Path, *arguments: Any, **options: Any) -> Any:
            once = store_errors(action, path)(function)
            return with_retries(functools.partial(once, path, *arguments, **options))

        return cast("F", call)

    return decorate


@retried("write in")
def check_writable(folder: Path) -> None:
    """See `files`."""
    nearest = folder.absolute()
    while not _exists(nearest):
        nearest = nearest.parent
    probe = nearest / temporary_name("probe")
    probe.touch(exist_ok=False)
    probe.unlink()


@retried("write")
def put(path: Path, data: bytes) -> None:
    """See `files`."""
    with writing(path) as file:
        file.write(data)


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """See `files`."""
    with store_errors("write", path), _temporary_for(path) as temporary:
        with temporary.open("xb") as file:
            yield file
            _flush(file)
        temporary.replace(path)
        _flush_folder(path.parent)


def put_if_absent(path: Path, data: bytes) -> bool:
    """See `files`.

    Retried step by step: a link whose answer was lost is recognised by its temporary name, which
    is kept between attempts.
    """
    temporary = path.with_name(temporary_name(path.name))
    try:
        _write(path, temporary, data)
        is_first = _link(path, temporary)
    except BaseException:
        with suppress(OSError):  # the next run deletes it
            temporary.unlink(missing_ok=True)
        raise
    remove(temporary)
    return is_first


@retried("write")
def _write(path: Path, temporary: Path, data: bytes) -> None:
    make_folder(path.parent)
    temporary.unlink(missing_ok=True)
    with temporary.open("xb") as file:
        file.write(data)
        _flush(file)


@retried("write")
def _link(path: Path, temporary: Path) -> bool:
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        # A network file system may repeat a link request whose answer was lost.
        if not path.samefile(temporary):
            return False
    _flush_folder(path.parent)
    return True


@retried("read")
def read_bytes(path: Path, max_bytes: int) -> bytes | None:
    """See `files`; CorruptFileError for more than ``max_bytes``."""
    try:
        descriptor = open_regular(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        check_size(path, os.fstat(descriptor).st_size, max_bytes)
        return file.read()


@retried("read")
def read_if_changed(path: Path, max_bytes: int, known: Hashable | None) -> FileVersion | None:
    """See `files`.

    The file is opened, and not only looked at: network file systems ask the server of it then.
    """
    try:
        descriptor = open_regular(path, os.O_RDONLY)
    except FileNotFoundError:
        return FileVersion(None, None)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        mark = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        if mark == known:
            return None
        check_size(path, found.st_size, max_bytes)
        return FileVersion(file.read(), mark if _is_settled(found.st_mtime_ns) else None)


def open_regular(path: Path, flags: int) -> int:
    """A descriptor of a regular file; nothing is followed, and no pipe is waited for.

    Args:
        path: path of the file.
        flags: flags of ``os.open``.

    Raises:
        CorruptFileError: it is a link, a folder, a pipe, a socket or a device.
        OSError: it cannot be opened.
    """
    try:
        descriptor = os.open(path, flags | _CAUTIOUS, 0o666)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO, errno.EISDIR):
            check_regular(path)
        raise
    try:
        _check_mode(path, os.fstat(descriptor).st_mode)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def check_regular(path: Path) -> None:
    """Refuse what is no regular file, for libraries that open it by its path.

    Raises:
        CorruptFileError: it is a link, a folder, a pipe, a socket or a device.
        OSError: there is nothing of that name, or it cannot be looked at.
    """
    _check_mode(path, os.lstat(path).st_mode)


def _check_mode(path: object, mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise _not_regular(path, _kind(mode))


def _not_regular(path: object, kind: str) -> CorruptFileError:
    """The error that something in a results folder is neither a file nor a folder of its own."""
    return CorruptFileError(
        f"{one_line(str(path))} is {kind}, which podium neither follows nor reads in a results"
        " folder; replace it by what belongs there"
    )


def _kind(mode: int) -> str:
    return next((name for is_kind, name in _KINDS if is_kind(mode)), "a device")


def check_size(path: object, num_bytes: int, max_bytes: int) -> None:
    """Refuse a file that is larger than any of its kind, before it is read.

    Raises:
        CorruptFileError: it has more than ``max_bytes`` bytes.
    """
    if num_bytes > max_bytes:
        raise CorruptFileError(
            f"{path} has {num_bytes:,} bytes, and was not read: a file of its kind has at most"
            f" {max_bytes:,}. Restore the file from a copy"
        )


def check_names(folder: object, names: Iterable[str]) -> None:
    """Refuse names with control characters.

    Raises:
        CorruptFileError: a name holds some.
    """
    for name in names:
        if has_control_characters(name):
            raise CorruptFileError(
                f"{folder} holds '{one_line(name)}', a name with control characters, which podium"
                " never writes; delete it"
            )


@retried("list")
def contents(folder: Path) -> list[tuple[str, str]]:
    """See `files`; what vanishes meanwhile is left out."""
    return sorted((path, kind) for path, kind, _ in _walk(folder))


@retried("list")
def stored_files(folder: Path) -> list[StoredFile]:
    """See `files`; what vanishes meanwhile is left out."""
    found = []
    for path, kind, entry in _walk(folder):
        if kind != "file":
            continue
        with suppress(FileNotFoundError):
            status = entry.stat(follow_symlinks=False)
            changed_at = datetime.fromtimestamp(status.st_mtime, UTC)
            found.append(StoredFile(path, status.st_size, changed_at))
    return sorted(found)


def change_of_names(folder: Path) -> int | None:
    """See `files`."""
    try:
        changed = folder.stat().st_mtime_ns
    except FileNotFoundError:
        return None
    return changed if _is_settled(changed) else None


def _is_settled(changed_ns: int) -> bool:
    """Whether a change that comes now gets another time than one at this time."""
    return time.time_ns() - changed_ns > _SETTLED_NS


def _walk(folder: Path) -> Iterator[tuple[str, str, os.DirEntry[str]]]:
    """Path below the folder, kind and entry of everything in it; no link is followed."""
    pending = [""]
    while pending:
        above = pending.pop()
        for entry in _entries(folder / above):
            name = f"{above}{entry.name}"
            kind = _kind_of(entry)
            yield name, kind, entry
            if kind == "folder":
                pending.append(f"{name}/")


def refuse_links(folder: Path, *, deep: bool) -> None:
    """See `files`."""
    if not deep:
        list_folders(folder)
        return
    for name, kind in contents(folder):
        if kind not in ("file", "folder"):
            raise _not_regular(f"{folder}/{name}", kind)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except FileNotFoundError:
        return []
    except NotADirectoryError:
        raise _no_folder(folder) from None


def _no_folder(folder: Path) -> CorruptFileError:
    return CorruptFileError(f"{one_line(str(folder))} is a file, where podium has a folder")


def _kind_of(entry: os.DirEntry[str]) -> str:
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    if entry.is_file(follow_symlinks=False):
        return "file"
    return _kind(entry.stat(follow_symlinks=False).st_mode)


@retried("list")
def list_names(folder: Path, suffix: str) -> list[str]:
    """See `files`."""
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names only, ten times as fast as iterdir
    except FileNotFoundError:
        return []
    except NotADirectoryError:
        raise _no_folder(folder) from None
    found = sorted(name for name in names if name.endswith(suffix) and not name.startswith("."))
    check_names(folder, found)
    return found


@retried("look at")
def size(path: Path) -> int | None:
    """See `files`; CorruptFileError for what is no regular file."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    _check_mode(path, found.st_mode)
    return found.st_size


def total_size(folder: Path, suffix: str) -> int:
    """See `files`."""
    return sum(size(folder / name) or 0 for name in list_names(folder, suffix))


@retried("list")
def list_folders(folder: Path) -> list[Path]:
    """See `files`."""
    entries = _entries(folder)
    for entry in entries:
        if entry.is_symlink():
            check_regular(Path(entry.path))
    found = sorted(Path(entry.path) for entry in entries if entry.is_dir())
    check_names(folder, [below.name for below in found])
    return found


@retried("list")
def list_studies(storage: Path) -> list[Path]:
    """See `files`."""
    return sorted(Path(entry.path) for entry in _entries(storage) if entry.is_dir())


def list_below(folder: Path, suffix: str) -> list[Path]:
    """See `files`."""
    return [below / name for below in list_folders(folder) for name in list_names(below, suffix)]


@retried("delete")
def remove(path: Path) -> None:
    """See `files`."""
    path.unlink(missing_ok=True)


def remove_all(paths: Sequence[Path]) -> None:
    """See `files`."""
    for path in paths:
        remove(path)


@retried("delete")
def remove_folder(folder: Path) -> None:
    """See `files`."""
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)


@retried("delete")
def remove_if_empty(folder: Path) -> None:
    """See `files`."""
    try:
        folder.rmdir()
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise


@retried("clean")
def remove_temporaries(folder: Path, beginning: str) -> None:
    """See `files`."""
    for leftover in folder.glob(f".{glob.escape(beginning)}*{TEMPORARY_SUFFIX}"):
        leftover.unlink(missing_ok=True)


@contextmanager
def store_errors(action: str, path: object) -> Iterator[None]:
    """Turn an OSError within the block into a StoreError: cannot ``action`` ``path``."""
    try:
        yield
    except OSError as error:
        if isinstance(path, Path):
            check_not_vanished(path)
        reason = error.strerror or str(error)
        culprit = error.filename
        place = f" ({one_line(str(culprit))})" if culprit and str(culprit) != str(path) else ""
        kind = UnreachableError if is_transient(error) else StoreError
        raise kind(f"cannot {action} {path}: {reason}{place}") from error


@contextmanager
def _temporary_for(path: Path) -> Iterator[Path]:
    make_folder(path.parent)
    temporary = path.with_name(temporary_name(path.name))
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def make_folder(folder: Path) -> None:
    """Make a folder and its ancestors, each flushed into its parent.

    Raises:
        FolderGoneError: it belongs to a results folder in use that is gone.
    """
    check_not_vanished(folder)
    if folder.is_dir():
        return
    if folder.parent != folder:
        make_folder(folder.parent)
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
