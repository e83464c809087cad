"""Where results can lie: a folder of this machine, or a place in a store that a URI names.

A `RemotePath` is a name and nothing else: it looks at no store. It has the part of `pathlib.Path`
that the store needs, so that `StudyPaths` names files in both alike.

URIs never hold credentials. They are written into results, logs and messages, so one with a
password or a key is refused; credentials come from the environment of each node.
"""

import re
import secrets
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TypeAlias
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from orchestrator.results.errors import StoreError

__all__ = [
    "TEMPORARY_SUFFIX",
    "Place",
    "RemotePath",
    "has_scheme",
    "lies_in",
    "place_of",
    "resolved",
    "temporary_name",
    "way_below",
]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
# What `pathlib.Path` makes of a URI: one slash is lost.
_BROKEN = re.compile(r"(s3|gs|gcs|abfss?|hdfs|viewfs|file):/(?!/)")
# A name and a password: a secret key may hold slashes and more, a port is a number.
_PASSWORD = re.compile(r":(?!\d{1,5}(?:[/?]|$)).*@", re.DOTALL)
_SECRET = re.compile(r"key|secret|token|passw|pwd|sas|sig|credential|auth", re.IGNORECASE)


@dataclass(frozen=True, slots=True, order=True)
class RemotePath:
    """A file or folder in a remote store.

    Attributes:
        scheme: such as ``s3``.
        authority: the bucket, or host and port.
        key: the place within, without a slash at either end; empty for the whole bucket.
        query: settings of the connection, such as ``region=eu-central-1``.
    """

    scheme: str
    authority: str
    key: str
    query: str = ""

    def __str__(self) -> str:
        """The URI; `place_of` is the inverse."""
        place = f"{self.scheme}://{self.authority}"
        path = f"/{self.key}" if self.key else ""
        return f"{place}{path}?{self.query}" if self.query else f"{place}{path}"

    def __truediv__(self, name: str | PurePosixPath) -> "RemotePath":
        """The place of that name below this one."""
        below = str(name).strip("/")
        return replace(self, key=f"{self.key}/{below}" if self.key else below)

    @property
    def name(self) -> str:
        """The last part."""
        return PurePosixPath(self.key).name

    @property
    def stem(self) -> str:
        """The last part without its suffix."""
        return PurePosixPath(self.key).stem

    @property
    def suffix(self) -> str:
        """The end of the last part, with its dot."""
        return PurePosixPath(self.key).suffix

    @property
    def parent(self) -> "RemotePath":
        """The folder around it; the whole bucket is its own."""
        return replace(self, key=self.key.rpartition("/")[0])

    def relative_to(self, other: "Place") -> PurePosixPath:
        """The way from a folder above.

        Raises:
            ValueError: this lies elsewhere.
        """
        if not isinstance(other, RemotePath) or replace(self, key=other.key) != other:
            raise ValueError(f"{self} is not below {other}")
        return PurePosixPath(self.key).relative_to(PurePosixPath(other.key))

    def absolute(self) -> "RemotePath":
        """Itself: a URI means the same from everywhere."""
        return self


Place: TypeAlias = Path | RemotePath


def has_scheme(text: str) -> bool:
    """Whether a text is a URI rather than a path of this machine."""
    return bool(_SCHEME.match(text) or _BROKEN.match(text))


def place_of(given: str | Place) -> Place:
    """The place that a text names: a URI, or a path with ``~`` expanded.

    ``file://`` is this machine too.

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
        raise StoreError(f"{scheme}:/ is no beginning of a URI: it needs two slashes, {scheme}://")
    parts = _parts(scheme, text)
    if parts.scheme != "file" or parts.netloc:
        _refuse_credentials(scheme, text, parts.query)
    key = "/".join(part for part in parts.path.split("/") if part)
    if ".." in key.split("/") or parts.fragment:
        raise StoreError(f"{scheme}:// URIs can hold neither '..' nor '#'")
    if scheme == "file":
        if parts.netloc not in ("", "localhost"):
            raise StoreError("a file:// URI needs three slashes, as in file:///data")
        return Path("/") / unquote(key)
    return RemotePath(scheme, parts.netloc, key, parts.query)


def way_below(folder: Place, place: Place) -> str:
    """How one gets from a folder to a place below it.

    Raises:
        ValueError: the place lies elsewhere.
    """
    if isinstance(place, RemotePath):
        return str(place.relative_to(folder))
    if isinstance(folder, RemotePath):
        raise ValueError(f"{place} is not below {folder}")
    return str(place.relative_to(folder))


def resolved(place: Place) -> Place:
    """The one name of a place: links are followed."""
    return place.resolve() if isinstance(place, Path) else place


def lies_in(folder: Place, place: Place) -> bool:
    """Whether a place is a folder, or anywhere below it."""
    try:
        way_below(resolved(folder), resolved(place))
    except ValueError:
        return False
    return True


def _parts(scheme: str, text: str) -> SplitResult:
    try:
        return urlsplit(text)
    except ValueError:  # its words would show the text
        problem = StoreError(f"the {scheme}:// URI has no host or bucket that can be read")
    raise problem


def _refuse_credentials(scheme: str, text: str, query: str) -> None:
    """Messages name what is wrong, never its value: anything in a broken URI may be a secret."""
    how = (
        "results, logs and messages would show them. Give them to each node by its environment"
        " (see docs/storage.md)"
    )
    if _PASSWORD.search(unquote(text.partition("://")[2])):
        raise StoreError(f"the {scheme}:// URI holds a user name and a password; {how}")
    if "@" in unquote(query):
        raise StoreError(
            f"the {scheme}:// URI holds what may be credentials (an @ in its settings); {how}"
        )
    for name, _ in parse_qsl(query, keep_blank_values=True):
        if _SECRET.search(name):
            raise StoreError(f"the {scheme}:// URI holds credentials ({name}); {how}")


TEMPORARY_SUFFIX = ".tmp"


def temporary_name(name: str) -> str:
    """A new name, in the same folder, for what is to be called ``name`` when it is whole."""
    return f".{name}.{secrets.token_hex(8)}{TEMPORARY_SUFFIX}"
