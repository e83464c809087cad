"""What a remote store must be able to do, and how it says what went wrong.

Keys are places within one bucket, without a slash at either end; the empty key is the bucket.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from orchestrator.results.errors import PlaceError, StoreError, UnreachableError

__all__ = ["TRANSIENT_STATUS", "Backend", "BackendError", "Listing"]

TRANSIENT_STATUS = ("429", "500", "502", "503", "504")
"""Answers by HTTP that may be others in a moment, whatever the store."""


class BackendError(Exception):
    """An operation failed.

    Args:
        reason: for people; it holds no credentials, as the store's own words may.
        is_transient: whether it may be over in a moment.
        is_wrong_uri: whether no store was asked, because the URI names none.
    """

    def __init__(
        self, reason: str, *, is_transient: bool = False, is_wrong_uri: bool = False
    ) -> None:
        super().__init__(reason)
        self._is_wrong_uri = is_wrong_uri
        self._is_transient = is_transient

    def told(self, action: str, place: object) -> StoreError:
        """For the user: what could not be done, and where."""
        if self._is_wrong_uri:
            return PlaceError(f"cannot {action} {place}: {self}")
        kind = UnreachableError if self._is_transient else StoreError
        return kind(f"cannot {action} {place}: {self}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What lies below a key.

    Attributes:
        sizes: key -> bytes of the objects.
        folders: keys of the folders right below; empty in a deep listing.
    """

    sizes: Mapping[str, int]
    folders: Sequence[str]


class Backend(Protocol):
    """A store whose objects appear whole or not at all. Every method may raise BackendError.

    Attributes:
        leaves_temporaries: whether a killed writer leaves objects with temporary names.
        promises_first: whether of several `create` at the same time exactly one is told True.
    """

    leaves_temporaries: bool
    promises_first: bool

    def read(self, key: str) -> bytes | None:
        """The content of an object; None if there is none."""

    def write(self, key: str, content: bytes | Path) -> None:
        """Write an object whole, replacing what is there; a path is a file to be sent."""

    def create(self, key: str, content: bytes, token: str) -> bool:
        """Write an object whole, with a token, unless there is one; True if this call made it."""

    def has_token(self, key: str, token: str) -> bool:
        """Whether the object there was created with this token, and the answer was lost."""

    def size(self, key: str) -> int | None:
        """Bytes of an object; None if there is none."""

    def listing(self, key: str, *, deep: bool) -> Listing:
        """What lies below a key: right below it, or all of it."""

    def delete(self, key: str) -> None:
        """Delete an object; nothing happens if there is none."""

    def delete_folder(self, key: str) -> None:
        """Delete a folder whose objects were deleted, where there are folders without objects."""
