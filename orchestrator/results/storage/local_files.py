"""What `files` does in local and network-mounted folders, and the errors of every operation.

A file appears whole under its name or not at all: data are written to a temporary name in the same
folder, flushed to the disk, then moved or linked to their name, and the folder is flushed too.
Temporary names start with a dot and end in ``.tmp``.

A results folder may come from anyone, so nothing in it is followed or waited for: what is read is
a regular file, not a link, a pipe or a device. Anything else is a CorruptFileError that names it.
"""

import errno
import functools
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from orchestrator.results.storage.locations import Place, temporary_name
from orchestrator.results.storage.object_store import RequestError
from orchestrator.results.storage.printable_text import one_line
from orchestrator.results.storage.transient_errors import is_transient, with_retries
from podium.errors import CorruptFileError, FolderGoneError, StoreError, UnreachableError

# Nothing is followed, no pipe is waited for, and no child process gets the file.
_CAUTIOUS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}

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
        culprit = error.filename
        place = f" ({one_line(str(culprit))})" if culprit and str(culprit) != str(path) else ""
        kind = UnreachableError if is_transient(error) else StoreError
        raise kind(f"cannot {action} {path}: {error.strerror or error}{place}") from error


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


@retried("write in")
def check_writable(folder: Path) -> None:
    """As `files.check_writable`."""
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


def create(path: Path, data: bytes) -> bool:
    """As `files.put_if_absent`. A link whose answer was lost is known by its temporary name."""
    temporary = path.with_name(temporary_name(path.name))

    @retried("write")
    def is_first(path: Path) -> bool:
        if not _are_one(path, temporary):
            make_folder(path.parent)
            with temporary.open("wb") as file:
                file.write(data)
                _flush(file)
            with suppress(FileExistsError):
                path.hardlink_to(temporary)
        _flush_folder(path.parent)
        return _are_one(path, temporary)

    try:
        return is_first(path)
    finally:
        with suppress(OSError):  # the next run deletes it
            temporary.unlink(missing_ok=True)


def _are_one(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except FileNotFoundError:
        return False


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
        check_regular(path, os.fstat(descriptor))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def check_regular(path: Path, status: os.stat_result | None = None) -> None:
    """Refuse what is no regular file, for libraries that open it by its path.

    Raises:
        CorruptFileError: it is a link, a folder, a pipe, a socket or a device, by ``status`` if
            that is known.
        OSError: there is nothing of that name, or it cannot be looked at.
    """
    known = status or path.lstat()
    if not stat.S_ISREG(known.st_mode):
        raise not_regular(path, _kind_of(known))


def not_regular(path: object, kind: str) -> CorruptFileError:
    """The error that something in a results folder is neither a file nor a folder of its own."""
    return CorruptFileError(
        f"{one_line(str(path))} is {kind}, which podium neither follows nor reads in a results"
        " folder; replace it by what belongs there"
    )


def _kind_of(status: os.stat_result) -> str:
    return _KINDS.get(stat.S_IFMT(status.st_mode), "a device")


def walk(folder: Path, *, deep: bool) -> Iterator[tuple[str, str, os.DirEntry[str]]]:
    """Path below the folder, kind and entry of what is in it; of a missing one nothing.

    The kind is ``file``, ``folder``, or what else it is, such as ``a symbolic link``. No link is
    followed.

    Args:
        folder: where to look.
        deep: whether all that lies below it comes too.

    Raises:
        CorruptFileError: it is a file.
    """
    pending = [""]
    while pending:
        above = pending.pop()
        try:
            with os.scandir(folder / above) as found:
                entries = list(found)
        except FileNotFoundError:
            continue
        except NotADirectoryError:
            told = f"{one_line(str(folder))} is a file, where podium has a folder"
            raise CorruptFileError(told) from None
        for entry in entries:
            name = f"{above}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                kind = "folder"
                pending += [f"{name}/"] if deep else []
            elif entry.is_file(follow_symlinks=False):
                kind = "file"
            else:
                kind = _kind_of(entry.stat(follow_symlinks=False))
            yield name, kind, entry
