"""The interface that remote stores implement, and the error they raise.

Keys are paths within one bucket, without a slash at either end; the empty key is the bucket.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from podium.errors import PlaceError, StoreError, UnreachableError

__all__ = ["TRANSIENT_STATUS", "Backend", "BackendError", "Listing"]

TRANSIENT_STATUS = ("429", "500", "502", "503", "504")
"""HTTP status codes that are transient whatever the store."""


class BackendError(Exception):
    """An operation failed.

    Args:
        reason: text for the user, without credentials, which a store's own message may hold.
        is_transient: whether a retry may succeed.
        is_wrong_uri: whether the URI names no store, so that none was contacted.
    """

    def __init__(
        self, reason: str, *, is_transient: bool = False, is_wrong_uri: bool = False
    ) -> None:
        super().__init__(reason)
        self._is_wrong_uri = is_wrong_uri
        self._is_transient = is_transient

    def as_store_error(self, action: str, place: object) -> StoreError:
        """The error for the user: cannot ``action`` ``place``, and why."""
        if self._is_wrong_uri:
            return PlaceError(f"cannot {action} {place}: {self}")
        kind = UnreachableError if self._is_transient else StoreError
        return kind(f"cannot {action} {place}: {self}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Objects and folders below a key.

    Attributes:
        sizes: key of each object -> its size in bytes.
        folders: keys of the folders directly below; empty in a deep listing.
    """

    sizes: Mapping[str, int]
    folders: Sequence[str]


class Backend(Protocol):
    """A store whose objects appear whole or not at all. Every method may raise BackendError.

    Attributes:
        leaves_temporaries: whether a killed writer leaves objects with temporary names.
        create_is_atomic: whether of several simultaneous `create` exactly one returns True.
    """

    leaves_temporaries: bool
    create_is_atomic: bool

    def read(self, key: str, check_size: Callable[[int], None]) -> bytes | None:
        """The content of an object; None if there is none.

        Args:
            key: key of the object.
            check_size: called with the number of its bytes before they are read; may raise.
        """

    def write(self, key: str, content: bytes | Path) -> None:
        """Write an object whole, replacing what is there; a path is a file to be sent."""

    def create(self, key: str, content: bytes, token: str) -> bool:
        """Write an object whole, with a token, unless there is one; True if this call made it."""

    def has_token(self, key: str, token: str) -> bool:
        """Whether the object was created with this token: by a `create` whose answer was lost."""

    def size(self, key: str) -> int | None:
        """Bytes of an object; None if there is none."""

    def listing(self, key: str, *, deep: bool) -> Listing:
        """Objects directly below a key, or at any depth if ``deep``."""

    def delete(self, key: str) -> None:
        """Delete an object; nothing happens if there is none."""

    def delete_folder(self, key: str) -> None:
        """Delete a folder whose objects were deleted, where there are folders without objects."""
