"""What `files` does in local and network-mounted folders, and the errors of every operation.

A file appears whole under its name or not at all: data are written to a temporary name in the same
folder, flushed to the disk, then moved or linked to their name, and the folder is flushed too.
Temporary names start with a dot and end in ``.tmp``.

A results folder may come from anyone, so nothing in it is followed or waited for: what is read is
a regular file, not a link, a pipe or a device, and names that would forge lines of output are
refused. Both are a CorruptFileError that names them.
"""

import errno
import fcntl
import functools
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from orchestrator.results.storage.locations import Place, temporary_name
from orchestrator.results.storage.object_store import RequestError
from orchestrator.results.storage.printable_text import has_control_characters, one_line
from orchestrator.results.storage.transient_errors import is_transient, with_retries
from podium.errors import CorruptFileError, FolderGoneError, StoreError, UnreachableError

# Nothing is followed, no pipe is waited for, and no child process gets the file.
_CAUTIOUS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}

_POLL_SECONDS = 0.01

# Files that results folders in use have. Writers make folders that are missing; where a whole
# results folder was deleted, renamed or unmounted in the middle of a run, that would begin it anew
# in silence, and hide what was there.
_marks: list[Path] = []

F = TypeVar("F", bound=Callable[..., Any])


def retried(action: str) -> Callable[[F], F]:
    """Decorates a function whose first argument is a place: to ``action`` it.

    Its OSError or RequestError is a StoreError: "cannot ``action`` ..."; an UnreachableError where
    that is transient, and then the function is called again.
    """

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def call(place: Any, *arguments: Any, **options: Any) -> Any:
            def once() -> Any:
                try:
                    with store_errors(action, place):
                        return function(place, *arguments, **options)
                except RequestError as error:
                    problem = error.kind(f"cannot {action} {place}: {error}")
                raise problem  # outside the handler: without the errors that it came from

            return with_retries(once)

        return cast("F", call)

    return decorate


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


@retried("write in")
def check_writable(folder: Path) -> None:
    """See `files`."""
    nearest = folder.absolute()
    while not (nearest.exists() or nearest.is_symlink()):  # a file in the way is an ancestor
        nearest = nearest.parent
    probe = nearest / temporary_name("probe")
    probe.touch(exist_ok=False)
    probe.unlink()


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """A file open for writing that gets its name when the block ends without an exception."""
    with store_errors("write", path):
        make_folder(path.parent)
        temporary = path.with_name(temporary_name(path.name))
        try:
            with temporary.open("xb") as file:
                yield file
                _flush(file)
            temporary.replace(path)
            _flush_folder(path.parent)
        finally:
            temporary.unlink(missing_ok=True)


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
    retried("delete")(Path.unlink)(temporary, missing_ok=True)
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


@contextmanager
def never_made_again(mark: Place) -> Iterator[None]:
    """While the block runs, this process writes beside and below ``mark`` only if that is there.

    Args:
        mark: a file that the folder always has. A remote one changes nothing: there are no
            folders in object stores, and buckets are not made by writing.
    """
    marks = [mark] if isinstance(mark, Path) else []
    _marks.extend(marks)
    try:
        yield
    finally:
        for known in marks:
            _marks.remove(known)


def check_not_vanished(path: Place) -> None:
    """Raise FolderGoneError if ``path`` is, or lies below, a folder in use that is gone."""
    for mark in _marks:
        # The look comes first: to compare two paths takes ten times as long.
        if not mark.exists() and isinstance(path, Path) and path.is_relative_to(mark.parent):
            raise FolderGoneError(
                f"{mark.parent} is gone: it no longer has a {mark.name}. Restore it, then run"
                " the same command to continue"
            )


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


def open_regular(path: Path, flags: int) -> int:
    """A descriptor of a regular file, by the flags of ``os.open``; nothing else is opened.

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
        check_regular(path, os.fstat(descriptor).st_mode)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def exclusive(guard: Path, *, limit_seconds: float) -> Iterator[bool]:
    """Hold ``guard`` against other processes; False if it was not free within the limit.

    The operating system frees it when its holder dies. By `fcntl` and not the library filelock,
    which on a file system without locks falls back to a file that outlives its holder.

    Raises:
        CorruptFileError: ``guard`` is a link, a folder, a pipe, a socket or a device.
        StoreError: it cannot be made or locked.
    """
    descriptor = _opened(guard)
    deadline = time.monotonic() + limit_seconds
    try:
        while not (is_held := _is_locked(guard, descriptor)) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        yield is_held
    finally:
        os.close(descriptor)


@retried("lock")
def _opened(guard: Path) -> int:
    make_folder(guard.parent)
    return open_regular(guard, os.O_RDWR | os.O_CREAT)


@retried("lock")
def _is_locked(guard: Path, descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def check_regular(path: Path, mode: int | None = None) -> None:
    """Refuse what is no regular file, for libraries that open it by its path.

    Raises:
        CorruptFileError: it is a link, a folder, a pipe, a socket or a device, by ``mode`` if that
            is known.
        OSError: there is nothing of that name, or it cannot be looked at.
    """
    known = os.lstat(path).st_mode if mode is None else mode
    if not stat.S_ISREG(known):
        raise not_regular(path, _kind_of(known))


def not_regular(path: object, kind: str) -> CorruptFileError:
    """The error that something in a results folder is neither a file nor a folder of its own."""
    return CorruptFileError(
        f"{one_line(str(path))} is {kind}, which podium neither follows nor reads in a results"
        " folder; replace it by what belongs there"
    )


def _kind_of(mode: int) -> str:
    return _KINDS.get(stat.S_IFMT(mode), "a device")


def check_size(path: object, num_bytes: int, max_bytes: int) -> None:
    """Raise CorruptFileError for a file with more bytes than any of its kind."""
    if num_bytes > max_bytes:
        raise CorruptFileError(
            f"{path} has {num_bytes:,} bytes, and was not read: a file of its kind has at most"
            f" {max_bytes:,}. Restore the file from a copy"
        )


def check_names(folder: object, names: Iterable[str]) -> None:
    """Raise CorruptFileError for names with control characters."""
    for name in names:
        if has_control_characters(name):
            raise CorruptFileError(
                f"{folder} holds '{one_line(name)}', a name with control characters, which podium"
                " never writes; delete it"
            )


def entries(folder: Path) -> list[os.DirEntry[str]]:
    """What lies right in a folder; of a missing one nothing.

    Raises:
        CorruptFileError: it is a file.
    """
    try:
        with os.scandir(folder) as found:
            return list(found)
    except FileNotFoundError:
        return []
    except NotADirectoryError:
        raise CorruptFileError(
            f"{one_line(str(folder))} is a file, where podium has a folder"
        ) from None


def walk(folder: Path) -> Iterator[tuple[str, str, os.DirEntry[str]]]:
    """Path below the folder, kind and entry of everything in it; no link is followed."""
    pending = [""]
    while pending:
        above = pending.pop()
        for entry in entries(folder / above):
            name = f"{above}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                kind = "folder"
                pending.append(f"{name}/")
            elif entry.is_file(follow_symlinks=False):
                kind = "file"
            else:
                kind = _kind_of(entry.stat(follow_symlinks=False).st_mode)
            yield name, kind, entry
