"""Locations of files and folders: `Place`, a local path or a path in a store that a URI names.

A `RemotePath` is a name and nothing else: it contacts no store. It has the part of `pathlib.Path`
that the store needs, so that `StudyPaths` names files in both alike.

URIs never hold credentials. They are written into results, logs and messages, so one with a
password or a key is refused; credentials come from the environment of each node.
"""

import re
import secrets
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import NamedTuple, TypeAlias
from urllib.parse import parse_qsl, unquote, urlsplit

from podium.errors import StoreError

TEMPORARY_SUFFIX = ".tmp"
"""Suffix of files that are not yet whole."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
# What `pathlib.Path` makes of a URI: one slash is lost.
_BROKEN = re.compile(r"(s3|gs|gcs|abfss?|az|hdfs|file):/(?!/)")
# A name and a password: a secret key may hold slashes and more, a port is a number.
_PASSWORD = re.compile(r":(?!\d{1,5}(?:[/?]|$)).*@", re.DOTALL)
_SECRET = re.compile(r"key|secret|token|passw|pwd|sas|sig|credential|auth", re.IGNORECASE)


@dataclass(frozen=True, slots=True, order=True)
class RemotePath:
    """The location of a file or folder in a remote store: the parts of its URI.

    Attributes:
        scheme: scheme of the URI, such as ``s3``.
        authority: bucket, or host and port.
        key: path within the bucket, without a slash at either end; empty for the whole bucket.
        query: connection settings, such as ``region=eu-central-1``.
    """

    scheme: str
    authority: str
    key: str
    query: str = ""

    def __str__(self) -> str:
        """The URI; `parse_place` is the inverse."""
        place = f"{self.scheme}://{self.authority}"
        path = f"/{self.key}" if self.key else ""
        return f"{place}{path}?{self.query}" if self.query else f"{place}{path}"

    def __truediv__(self, name: str | PurePosixPath) -> "RemotePath":
        """The file or folder of that name in this folder."""
        below = str(name).strip("/")
        return replace(self, key=f"{self.key}/{below}" if self.key else below)

    @property
    def name(self) -> str:
        """The last part of the key."""
        return self.key.rpartition("/")[2]

    @property
    def stem(self) -> str:
        """The last part of the key without its suffix."""
        return PurePosixPath(self.key).stem

    @property
    def parent(self) -> "RemotePath":
        """The folder that holds it; the parent of the whole bucket is the bucket."""
        return replace(self, key=self.key.rpartition("/")[0])

    def absolute(self) -> "RemotePath":
        """Itself: a URI means the same from everywhere."""
        return self


Place: TypeAlias = Path | RemotePath
"""Location of a file or folder: a path of this machine, or one in a remote store."""


class StoredFile(NamedTuple):
    """A file as a listing shows it: path below the listed folder, bytes, time of last change."""

    path: str
    num_bytes: int
    changed_at: datetime


def has_scheme(text: str) -> bool:
    """Whether a text is a URI rather than a path of this machine."""
    return bool(_SCHEME.match(text) or _BROKEN.match(text))


def parse_place(given: str | Place) -> Place:
    """The location that a text names: a URI, or a path with ``~`` expanded.

    A ``file://`` URI gives a local path.

    Raises:
        StoreError: the URI is broken or holds credentials, which the message does not.
    """
    if isinstance(given, RemotePath):
        return given
    text = str(given)
    if not has_scheme(text):
        return Path(text).expanduser()
    scheme = text.partition(":")[0].lower()
    if _BROKEN.match(text):
        raise StoreError(f"{scheme}:/ does not begin a URI: that takes two slashes, {scheme}://")
    parts = None
    with suppress(ValueError):  # whose message would show the text
        parts = urlsplit(text)
    if parts is None:
        raise StoreError(f"the {scheme}:// URI has no host or bucket that can be read")
    if (scheme != "file" or parts.netloc) and _has_credentials(text, parts.query):
        raise StoreError(
            f"the {scheme}:// URI seems to hold credentials; results, logs and messages would show"
            " them. Give them to each node by its environment (see docs/how-to/storage.md)"
        )
    key = "/".join(part for part in parts.path.split("/") if part)
    if ".." in key.split("/") or parts.fragment:
        raise StoreError(f"{scheme}:// URIs can hold neither '..' nor '#'")
    if scheme != "file":
        return RemotePath(scheme, parts.netloc, key, parts.query)
    if parts.netloc not in ("", "localhost"):
        raise StoreError("a file:// URI needs three slashes, as in file:///data")
    return Path("/") / unquote(key)


def _has_credentials(text: str, query: str) -> bool:
    names = [name for name, _ in parse_qsl(query, keep_blank_values=True)]
    has_password = _PASSWORD.search(unquote(text.partition("://")[2]))
    return bool(has_password or "@" in unquote(query) or any(map(_SECRET.search, names)))


def temporary_name(name: str, token: str = "") -> str:
    """A name, in the same folder, for what is to be called ``name`` when it is whole.

    It is a new one, unless there is a ``token``.
    """
    return f".{name}.{token or secrets.token_hex(8)}{TEMPORARY_SUFFIX}"
