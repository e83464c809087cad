"""What `files` does in local and network-mounted folders, and the errors of every operation.

A file appears whole under its name or not at all: data are written to a temporary name in the same
folder, flushed to the disk, then moved or linked to their name, and the folder is flushed too.
Temporary names start with a dot and end in ``.tmp``.

A results folder may come from anyone, so nothing in it is followed or waited for: what is read is
a regular file, not a link, a pipe or a device. Anything else is a CorruptFileError that names it.
"""

import functools
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from podium.errors import CorruptFileError, FolderGoneError, StoreError, UnreachableError
from podium.orchestrator.results.storage.locations import Place, StoredFile, temporary_name
from podium.orchestrator.results.storage.printable_text import one_line
from podium.orchestrator.results.storage.transient_errors import is_transient, with_retries

# No pipe is waited for, and no child process gets the file.
_CAUTIOUS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_KINDS = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "folder",
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

    Its OSError is a StoreError: "cannot ``action`` ..."; an UnreachableError where that is
    transient. After an UnreachableError the function is called again.
    """

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def call(place: Any, *arguments: Any, **options: Any) -> Any:
            checked = store_errors(action, place)(function)
            return with_retries(lambda: checked(place, *arguments, **options))

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

    A remote file changes nothing: there are no folders in object stores, and buckets are not made
    by writing.
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


class LocalFile:
    """A file, or what is in a folder, of this machine.

    Every method may raise OSError; CorruptFileError for what is neither file nor folder.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> bytes | None:
        """The content, None if there is none."""
        try:
            check_regular(self._path)
            descriptor = os.open(self._path, os.O_RDONLY | _CAUTIOUS)
        except FileNotFoundError:
            return None
        with os.fdopen(descriptor, "rb") as file:
            return file.read()

    def write(self, data: bytes) -> None:
        """Write it whole."""
        with writing(self._path) as file:
            file.write(data)

    def create(self, data: bytes, token: str) -> bool:
        """Write it whole unless there is one; whether this, or a call with that token, did."""
        path, temporary = self._path, self._path.with_name(temporary_name(self._path.name, token))
        is_linked = False
        try:
            with suppress(FileNotFoundError):
                is_linked = path.samefile(temporary)
            if not is_linked:
                make_folder(path.parent)
                with temporary.open("wb") as file:
                    file.write(data)
                    _flush(file)
                with suppress(FileExistsError):
                    path.hardlink_to(temporary)
                    is_linked = True
            _flush_folder(path.parent)
        except OSError as error:
            if is_transient(error):
                raise  # what there is tells the next call whether it was linked
            with suppress(OSError):
                temporary.unlink()
            raise
        with suppress(OSError):  # the next run deletes it
            temporary.unlink()
        return is_linked

    def exists(self) -> bool:
        """Whether there is a file."""
        with suppress(FileNotFoundError):
            check_regular(self._path)
            return True
        return False

    def contents(self, *, deep: bool) -> list[tuple[str, str]]:
        """Paths and kinds of what is in the folder, at any depth if ``deep``."""
        found, pending = [], [""]
        while pending:
            above = pending.pop()
            try:
                with os.scandir(self._path / above) as entries:
                    kinds = [(f"{above}{entry.name}", _kind_of_entry(entry)) for entry in entries]
            except FileNotFoundError:
                continue
            except NotADirectoryError:
                told = f"{one_line(str(self._path))} is a file, where podium has a folder"
                raise CorruptFileError(told) from None
            found += kinds
            pending += [f"{path}/" for path, kind in kinds if deep and kind == "folder"]
        return found

    def stored_files(self) -> list[StoredFile]:
        """All files at any depth, but those that vanish meanwhile."""
        found = []
        for path in (path for path, kind in self.contents(deep=True) if kind == "file"):
            with suppress(FileNotFoundError):
                status = (self._path / path).lstat()
                changed_at = datetime.fromtimestamp(status.st_mtime, UTC)
                found.append(StoredFile(path, status.st_size, changed_at))
        return found

    def remove(self, others: Sequence[object]) -> None:
        """Delete it; ``others`` are of remote stores only."""
        self._path.unlink(missing_ok=True)


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


@retried("write")
def append(path: Place, data: bytes, num_bytes: int, *, is_safe: bool) -> None:
    """Write at the end of a local file that had ``num_bytes``, over what a failed write left.

    The data survive loss of power from now on if they are to be safe; else once others do.
    """
    assert isinstance(path, Path), "nothing can be appended to an object"
    check_regular(path)
    descriptor = os.open(path, os.O_WRONLY | _CAUTIOUS)
    try:
        while data:
            written = os.pwrite(descriptor, data, num_bytes)
            data, num_bytes = data[written:], num_bytes + written
        if is_safe:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


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


def check_regular(path: Path) -> None:
    """Refuse what is no regular file, also for libraries that open it by its path.

    Raises:
        CorruptFileError: it is a link, a folder, a pipe, a socket or a device.
        OSError: there is nothing of that name, or it cannot be looked at.
    """
    if (kind := _kind(path.lstat())) != "file":
        raise not_regular(path, kind)


def not_regular(path: object, kind: str) -> CorruptFileError:
    """The error that something in a results folder is neither a file nor a folder of its own."""
    what = "a folder" if kind == "folder" else kind
    return CorruptFileError(
        f"{one_line(str(path))} is {what}, which podium neither follows nor reads in a results"
        " folder; replace it by what belongs there"
    )


def _kind(status: os.stat_result) -> str:
    return _KINDS.get(stat.S_IFMT(status.st_mode), "a device")


def _kind_of_entry(entry: os.DirEntry[str]) -> str:
    """As `_kind`; of files and folders the listing tells it."""
    if entry.is_file(follow_symlinks=False):
        return "file"
    is_folder = entry.is_dir(follow_symlinks=False)
    return "folder" if is_folder else _kind(entry.stat(follow_symlinks=False))
