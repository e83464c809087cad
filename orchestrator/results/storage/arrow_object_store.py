"""Stores that pyarrow opens by a URI: Google's and Azure's, HDFS, and what else it is built with.

They have no common way to write a file on the condition that there is none, so `create` looks,
writes and looks again: of two simultaneous writers both may get True. Files appear whole: they
are written under a temporary name and moved.
"""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from orchestrator.results.storage.locations import temporary_name
from orchestrator.results.storage.object_store import TRANSIENT_STATUS, BackendError, Listing
from orchestrator.results.storage.transient_errors import is_transient

__all__ = ["ArrowFiles"]

_TRANSIENT = re.compile(
    r"timed? ?out|timeout|unavailable|slow ?down|connection|curl|too many requests"
    rf"|\b({'|'.join(TRANSIENT_STATUS)})\b",
    re.IGNORECASE,
)
_MAX_MESSAGE = 200  # characters
_UNKNOWN = "Unrecognized filesystem type"
_KNOWN = "s3, gs, abfs, hdfs, file"
_LIMIT, _LIMIT_SECONDS = "retry_limit_seconds", 20

T = TypeVar("T")


class ArrowFiles:
    """One file system of pyarrow.

    Args:
        filesystem: the `pyarrow.fs.FileSystem`.
        root: folder of the file system that keys are relative to.
    """

    leaves_temporaries = True
    create_is_atomic = False

    def __init__(self, filesystem: Any, root: str) -> None:
        self._files = filesystem
        self._root = f"{root.rstrip('/')}/" if root else ""
        self._started: set[str] = set()  # tokens of attempts that saw no file of that name

    @classmethod
    def of_uri(cls, uri: str) -> "ArrowFiles":
        """The file system that a URI without a key names.

        Raises:
            BackendError: pyarrow does not know such URIs, or cannot open this one.
        """
        from pyarrow.fs import FileSystem

        def opened() -> "ArrowFiles":
            return cls(*FileSystem.from_uri(_with_limit(uri)))

        try:
            found = _request(opened)
        except BackendError as error:
            if _UNKNOWN not in str(error):
                raise
            raise BackendError(f"{error}; known: {_KNOWN}", is_wrong_uri=True) from None
        assert found is not None
        return found

    def read(self, key: str, check_size: Callable[[int], None]) -> bytes | None:
        """See `Backend`."""
        size = self.size(key)
        if size is None:
            return None
        check_size(size)
        return self._content(key)

    def _content(self, key: str) -> bytes | None:
        def content() -> bytes:
            with self._files.open_input_stream(self._path(key)) as file:
                return bytes(file.read())

        return _request(content)

    def write(self, key: str, content: bytes | Path) -> None:
        """See `Backend`."""
        folder, _, name = key.rpartition("/")
        temporary = self._path(f"{folder}/{temporary_name(name)}")
        path = self._path(key)

        def write() -> None:
            self._files.create_dir(self._path(folder), recursive=True)
            with self._files.open_output_stream(temporary) as file:
                if isinstance(content, bytes):
                    file.write(content)
                else:
                    with content.open("rb") as source:
                        shutil.copyfileobj(source, file)
            self._files.move(temporary, path)

        _request(write, must_find=True)

    def create(self, key: str, content: bytes, token: str) -> bool:
        """See `Backend`; a writer at the same moment is seen only if its content differs."""
        if self.size(key) is not None:  # ours, if an earlier attempt of this call lost its answer
            return token in self._started and self._content(key) == content
        self._started.add(token)
        self.write(key, content)
        is_ours = self._content(key) == content
        self._started.discard(token)
        return is_ours

    def has_token(self, key: str, token: str) -> bool:
        """See `Backend`; these stores keep no tokens."""
        return False

    def size(self, key: str) -> int | None:
        """See `Backend`."""
        from pyarrow.fs import FileType

        info = _request(lambda: self._files.get_file_info(self._path(key)))
        return int(info.size) if info is not None and info.type == FileType.File else None

    def listing(self, key: str, *, deep: bool) -> Listing:
        """See `Backend`."""
        from pyarrow.fs import FileSelector, FileType

        selector = FileSelector(self._path(key), allow_not_found=True, recursive=deep)
        infos = _request(lambda: self._files.get_file_info(selector)) or []
        return Listing(
            sizes={
                self._key(info.path): int(info.size)
                for info in infos
                if info.type == FileType.File
            },
            folders=[]
            if deep
            else [self._key(info.path) for info in infos if info.type == FileType.Directory],
        )

    def delete(self, key: str) -> None:
        """See `Backend`."""
        _request(lambda: self._files.delete_file(self._path(key)))

    def delete_folder(self, key: str) -> None:
        """See `Backend`."""
        _request(lambda: self._files.delete_dir(self._path(key)))

    def _path(self, key: str) -> str:
        """Absolute where the root of the file system is ``/``."""
        return f"{self._root}{key.strip('/')}".rstrip("/") or self._root

    def _key(self, path: str) -> str:
        return path.removeprefix(self._root).strip("/")


def _with_limit(uri: str) -> str:
    """The URI with a short limit for Google's client, which else retries for 15 minutes itself."""
    if not uri.startswith(("gs:", "gcs:")) or _LIMIT in uri:
        return uri
    return f"{uri}{'&' if '?' in uri else '?'}{_LIMIT}={_LIMIT_SECONDS}"


def _request(action: Callable[[], T], *, must_find: bool = False) -> T | None:
    """The result of an action; None if there is no such file and it need not exist."""
    import pyarrow as pa

    try:
        return action()
    except FileNotFoundError as error:
        if not must_find:
            return None
        problem = BackendError(_message(error))
    except OSError as error:
        transient = is_transient(error) or bool(_TRANSIENT.search(str(error)))
        problem = BackendError(_message(error), is_transient=transient)
    except pa.ArrowException as error:
        problem = BackendError(_message(error))
    raise problem


def _message(error: Exception) -> str:
    return str(error).partition("\n")[0][:_MAX_MESSAGE]
