"""Requests to one bucket of an object store, by obstore, and the errors that they end in.

By obstore and not by pyarrow, which can write no object on the condition that there is none
(``If-None-Match: *``): that is what makes the first commit win and a lock hold.

Errors show only the code and the status that the store answers: its own message may hold keys.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from orchestrator.results.storage.locations import StoredFile
from podium.errors import StoreError, UnreachableError

_PART_BYTES = 64 * 2**20  # larger objects are sent in parts, and appear when the last is there
_TOKEN = "podiumwriter"  # of letters alone: Azure allows no other names of metadata
_METADATA_SERVICE = re.compile(r"169\.254\.169\.254|metadata\.google\.internal")
_STATUS = re.compile(r"(?:status |\()code: (\d{3})")
_CODE = re.compile(r"<Code>(\w+)</Code>")
# Of 5xx all are transient but two; proxies such as Cloudflare have codes of their own.
_TRANSIENT_STATUS = re.compile(r"408|409|429|5(?!01|05)\d\d")
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
    """A request failed, for a reason that holds no credentials.

    Attributes:
        kind: class of the error for the user, which also says where the request went.
    """

    def __init__(self, reason: str, kind: type[StoreError] = StoreError) -> None:
        super().__init__(reason)
        self.kind = kind


class ObjectVersion(NamedTuple):
    """An object as it was read: its bytes, None if there is none.

    ``mode`` is how obstore is told to replace this version of it, and no other.
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

    def read(self, key: str, check_size: Callable[[int], None]) -> ObjectVersion:
        """The content of an object, and what distinguishes this version of it from every other.

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

    def write(self, key: str, content: bytes | Path) -> None:
        """Write an object whole, replacing what is there; a path is a file to be sent."""
        self._request(lambda: self._put(key, content), must_find=True)

    def create(self, key: str, content: bytes, token: str) -> bool:
        """Write an object whole, with a token, unless there is one; True if this call did."""
        return self._put_if(key, content, "create", attributes={_TOKEN: token})

    def has_token(self, key: str, token: str) -> bool:
        """Whether the object was created with this token: by a `create` whose answer was lost."""
        found = self._request(lambda: self._obstore.get(self._client, key).attributes.get(_TOKEN))
        return found == token

    def replace(self, key: str, content: bytes, known: ObjectVersion) -> bool:
        """Write an object whole, unless it is another version by now; True if this call did."""
        return self._put_if(key, content, known.mode)

    def size(self, key: str) -> int | None:
        """Bytes of an object; None if there is none."""
        return self._request(lambda: int(self._obstore.head(self._client, key)["size"]))

    def list_directly(self, key: str) -> tuple[list[str], list[str]]:
        """Names of the objects directly below a key, and names of the folders there."""

        def listed() -> tuple[list[str], list[str]]:
            found = self._obstore.list_with_delimiter(self._client, key or None)
            paths = [item["path"] for item in found["objects"]], found["common_prefixes"]
            objects, folders = ([str(path).rpartition("/")[2] for path in some] for some in paths)
            return objects, folders

        return self._request(listed, must_find=True) or ([], [])

    def list_deep(self, key: str) -> list[StoredFile]:
        """All objects below a key, sorted by their paths from there."""

        def listed() -> list[StoredFile]:
            return sorted(
                StoredFile(
                    item["path"].removeprefix(key).strip("/"), item["size"], item["last_modified"]
                )
                for chunk in self._obstore.list(self._client, key or None)
                for item in chunk
            )

        return self._request(listed, must_find=True) or []

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
            if error.kind is UnreachableError:
                raise
            self._open_for_many = None
            return False
        return True

    def _put(self, key: str, content: bytes | Path, **options: Any) -> None:
        self._obstore.put(self._client, key, content, chunk_size=_PART_BYTES, **options)

    def _put_if(self, key: str, content: bytes, mode: Any, **options: Any) -> bool:
        """Whether the store wrote an object on the condition that ``mode`` says."""
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        def put() -> bool:
            try:
                self._put(key, content, mode=mode, **options)
            except (AlreadyExistsError, PreconditionError):
                return False
            return True

        return bool(self._request(put, must_find=mode == "create"))  # None: it was deleted

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
            kind = UnreachableError if self._has_worked else StoreError
            return RequestError(self._no_credentials, kind)
        status = _STATUS.search(problem)
        if status is None and "HTTP error" in problem:
            return RequestError("the store does not answer", UnreachableError)
        number, name = status[1] if status else "", _code(problem)
        # Of a message of obstore itself, not what it quotes of the server's answer.
        first = problem.partition("\n")[0].partition(": ")[0] or "the request failed"
        answer = f"the store answers {number} {name}".rstrip() if status else first
        is_transient = _TRANSIENT_STATUS.fullmatch(number) or name in _TRANSIENT_CODES
        kind = UnreachableError if is_transient else StoreError
        return RequestError(_REASONS.get(name, answer), kind)


def _code(problem: str) -> str:
    """The error code that the store answered; empty if it gave none."""
    found = _CODE.search(problem)
    return found[1] if found else ""
