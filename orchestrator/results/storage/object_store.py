"""Requests to one bucket of an object store, by obstore, and the errors that they end in.

By obstore, the Rust crate object_store, and not by pyarrow: version 26 of that can write no object
on the condition that there is none (``If-None-Match: *``), which is what makes the first commit
win and a lock hold. One client does everything, so that there is one way in which credentials are
found (`object_store_clients`).

Errors show only the code and the status that the store answers: its own message may hold keys.
"""

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from orchestrator.results.storage.locations import FileVersion
from podium.errors import PlaceError, StoreError, UnreachableError

_PART_BYTES = 64 * 2**20  # larger objects are sent in parts, and appear when the last is there
_TOKEN = "podiumwriter"  # of letters alone: Azure allows no other names of metadata
_METADATA_SERVICE = re.compile(r"169\.254\.169\.254|metadata\.google\.internal")
_STATUS = re.compile(r"(?:status |\()code: (\d{3})")
_CODE = re.compile(r"<Code>(\w+)</Code>")
_TRANSIENT_STATUS = {"408", "409", "429"}
_PERMANENT = {"501", "505"}  # of 5xx; proxies such as Cloudflare have codes of their own
_TRANSIENT_CODES = {"RequestTimeout", "SlowDown", "InternalError", "ServiceUnavailable"}
_NO_BUCKET = {"NoSuchBucket", "ContainerNotFound"}
_REASONS = {
    "NoSuchBucket": "there is no such bucket",
    "ContainerNotFound": "there is no such container",
    "AccessDenied": "the credentials of this node do not allow it (AccessDenied)",
    "InvalidAccessKeyId": "the store does not know the access key of this node",
    "SignatureDoesNotMatch": "the secret key of this node does not match its access key",
    "ExpiredToken": "the session token of this node has expired",
    "RequestTimeTooSkewed": "the clock of this machine is wrong by more than the store allows",
}

T = TypeVar("T")


class RequestError(Exception):
    """A request failed.

    Args:
        reason: text for the user, without credentials, which a store's own message may hold.
        is_transient: whether a retry may succeed.
        is_wrong_uri: whether the URI names no store, so that none was contacted.

    Attributes:
        is_transient: as given.
    """

    def __init__(
        self, reason: str, *, is_transient: bool = False, is_wrong_uri: bool = False
    ) -> None:
        super().__init__(reason)
        self._is_wrong_uri = is_wrong_uri
        self.is_transient = is_transient

    def as_store_error(self, action: str, place: object) -> StoreError:
        """The error for the user: cannot ``action`` ``place``, and why."""
        if self._is_wrong_uri:
            return PlaceError(f"cannot {action} {place}: {self}")
        kind = UnreachableError if self.is_transient else StoreError
        return kind(f"cannot {action} {place}: {self}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Objects and folders below a key.

    Attributes:
        sizes: key of each object -> its size in bytes.
        changed_at: key of each object -> when it was written.
        folders: keys of the folders directly below; empty in a deep listing.
    """

    sizes: Mapping[str, int]
    changed_at: Mapping[str, datetime]
    folders: Sequence[str]


class ObjectVersion(NamedTuple):
    """An object as it was read.

    Attributes:
        content: its bytes; None if there is no such object.
        mode: how obstore is told to replace this version of it, and no other.
    """

    content: bytes | None
    mode: Any


class ObjectStore:
    """One bucket, whose objects appear whole or not at all. Every method may raise RequestError.

    Keys are paths within the bucket, without a slash at either end; the empty key is the bucket.

    Args:
        open_client: makes the store of obstore.
        no_credentials: what to say if this node has no credentials.
        open_for_many: makes the same store, one that deletes many objects by one request; None
            where there is no such request.
    """

    def __init__(
        self,
        open_client: Callable[[], Any],
        no_credentials: str,
        open_for_many: Callable[[], Any] | None = None,
    ) -> None:
        import obstore

        self._obstore = obstore
        self._open_for_many = open_for_many
        self._no_credentials = no_credentials
        self._has_worked = False
        self._client: Any = self._request(open_client, must_find=True)
        self._has_worked = False  # opening it makes no request

    def read(self, key: str, check_size: Callable[[int], None]) -> bytes | None:
        """The content of an object; None if there is none.

        Args:
            key: key of the object.
            check_size: called with the number of its bytes before they are read; may raise.
        """
        return self.read_version(key, check_size).content

    def read_if_changed(
        self, key: str, known: Hashable | None, check_size: Callable[[int], None]
    ) -> FileVersion | None:
        """The content of an object and its tag; None if its tag is the known one.

        Args:
            key: key of the object.
            known: tag of the version that the caller has; None if it has none.
            check_size: called with the number of its bytes before they are read; may raise.
        """
        from obstore.exceptions import NotModifiedError

        def version() -> tuple[FileVersion | None]:
            condition = {} if known is None else {"options": {"if_none_match": known}}
            try:
                found = self._obstore.get(self._client, key, **condition)
            except NotModifiedError:
                return (None,)
            check_size(found.meta["size"])
            return (FileVersion(bytes(found.bytes()), found.meta["e_tag"]),)

        found = self._request(version)
        return FileVersion(None, None) if found is None else found[0]

    def read_version(self, key: str, check_size: Callable[[int], None]) -> ObjectVersion:
        """The content of an object, and what tells this version of it from every other.

        Args:
            key: key of the object.
            check_size: called with the number of its bytes before they are read; may raise.
        """

        def version() -> ObjectVersion:
            found = self._obstore.get(self._client, key)
            check_size(found.meta["size"])
            known = {name: found.meta[name] for name in ("e_tag", "version")}
            tags = {name: tag for name, tag in known.items() if tag is not None}
            return ObjectVersion(bytes(found.bytes()), tags)

        return self._request(version) or ObjectVersion(None, "create")

    def replace(self, key: str, content: bytes, known: ObjectVersion) -> bool:
        """Write an object whole, unless it is another version by now; True if this call did."""
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        def put() -> bool:
            try:
                self._put(key, content, mode=known.mode)
            except (AlreadyExistsError, PreconditionError):
                return False
            return True

        return bool(self._request(put))  # None: it was deleted

    def write(self, key: str, content: bytes | Path) -> None:
        """Write an object whole, replacing what is there; a path is a file to be sent."""
        self._request(lambda: self._put(key, content), must_find=True)

    def create(self, key: str, content: bytes, token: str) -> bool:
        """Write an object whole, with a token, unless there is one; True if this call made it."""
        from obstore.exceptions import AlreadyExistsError

        def put() -> bool:
            try:
                self._put(key, content, mode="create", attributes={_TOKEN: token})
            except AlreadyExistsError:
                return False
            return True

        return bool(self._request(put, must_find=True))

    def has_token(self, key: str, token: str) -> bool:
        """Whether the object was created with this token: by a `create` whose answer was lost."""
        found = self._request(lambda: self._obstore.get(self._client, key).attributes.get(_TOKEN))
        return found == token

    def size(self, key: str) -> int | None:
        """Bytes of an object; None if there is none."""
        return self._request(lambda: int(self._obstore.head(self._client, key)["size"]))

    def listing(self, key: str, *, deep: bool) -> Listing:
        """Objects directly below a key, or at any depth if ``deep``."""
        listed = self._request(lambda: self._listed(key, deep=deep), must_find=True)
        assert listed is not None
        return listed

    def delete(self, key: str) -> None:
        """Delete an object; nothing happens if there is none."""
        self._request(lambda: self._obstore.delete(self._client, key))

    def delete_many(self, keys: Sequence[str]) -> bool:
        """Delete objects by one request; nothing happens to those that do not exist.

        Returns:
            False if the store refused it, and some may be there still: not every service has it.
        """
        open_client = self._open_for_many
        if open_client is None:
            return False
        try:
            self._request(lambda: self._obstore.delete(open_client(), keys))
        except RequestError as error:
            if error.is_transient:
                raise
            self._open_for_many = None
            return False
        return True

    def _put(self, key: str, content: bytes | Path, **options: Any) -> None:
        self._obstore.put(self._client, key, content, chunk_size=_PART_BYTES, **options)

    def _listed(self, key: str, *, deep: bool) -> Listing:
        if deep:
            chunks = self._obstore.list(self._client, key or None)
            objects = [item for chunk in chunks for item in chunk]
            folders: list[str] = []
        else:
            found = self._obstore.list_with_delimiter(self._client, key or None)
            objects = list(found["objects"])
            folders = list(map(str, found["common_prefixes"]))
        return Listing(
            sizes={item["path"]: item["size"] for item in objects},
            changed_at={item["path"]: item["last_modified"] for item in objects},
            folders=folders,
        )

    def _request(self, action: Callable[[], T], *, must_find: bool = False) -> T | None:
        """The result of an action; None if there is no such object and it need not exist."""
        from obstore.exceptions import BaseError

        try:
            result = action()
        except FileNotFoundError as error:
            problem = str(error)
            if not must_find and _code(problem) not in _NO_BUCKET:
                return None
        except BaseError as error:
            problem = str(error)
        else:
            self._has_worked = True
            return result
        # Raised outside the handler, so that no traceback shows the store's own message.
        raise self._error(problem)

    def _error(self, problem: str) -> RequestError:
        if "MissingAccessKeyId" in problem or "MissingSecretAccessKey" in problem:
            return RequestError(
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of this node must both be given"
            )
        if "service account file" in problem:
            return RequestError("the file of GOOGLE_APPLICATION_CREDENTIALS cannot be read")
        if _METADATA_SERVICE.search(problem):
            # A role's credentials are renewed now and then.
            return RequestError(self._no_credentials, is_transient=self._has_worked)
        status = _STATUS.search(problem)
        if status is None and "HTTP error" in problem:
            return RequestError("the store does not answer", is_transient=True)
        number = status[1] if status else ""
        name = _code(problem)
        answer = f"the store answers {number} {name}".rstrip() if status else _first_line(problem)
        return RequestError(
            _REASONS.get(name, answer),
            is_transient=number in _TRANSIENT_STATUS
            or (number.startswith("5") and number not in _PERMANENT)
            or name in _TRANSIENT_CODES,
        )


def _code(problem: str) -> str:
    """The error code that the store answered; empty if it gave none."""
    found = _CODE.search(problem)
    return found[1] if found else ""


def _first_line(problem: str) -> str:
    """The message of obstore itself, without what it quotes of the server's answer."""
    return problem.partition("\n")[0].partition(": ")[0] or "the request failed"
