"""Requests to buckets of object stores, by obstore, and the errors that they end in.

By obstore and not by pyarrow, which can write no object on the condition that there is none
(``If-None-Match: *``): that is what makes the first commit win and a lock hold. It finds the
credentials of each node in its environment (`docs/how-to/storage.md`).

Errors show only the code and the status that the store answers: its own message may hold keys.
"""

import os
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError
from obstore.store import from_url

from podium.errors import PlaceError, StoreError, UnreachableError
from podium.orchestrator.results.storage.locations import Place, RemotePath, StoredFile

_PART_BYTES = 64 * 2**20  # larger objects are sent in parts, and appear when the last is there
_CLIENT_OPTIONS = {
    "allow_http": True,
    "connect_timeout": "5s",
    "read_timeout": "30s",
    "timeout": "900s",
}
_TOKEN = "podiumwriter"  # of letters alone: Azure allows no other names of metadata
_ENDPOINT_NAMES = {
    **dict.fromkeys(("s3", "abfs", "abfss", "az"), "endpoint"),
    **dict.fromkeys(("gs", "gcs"), "base_url"),
}
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
    "PermanentRedirect": "the bucket lies in another region: name it by ?region=",
}

# Of obstore itself.
_MESSAGES: dict[str, tuple[type[StoreError], str]] = {
    "Account must be specified|did not match any known": (
        PlaceError,
        "the URI needs a container and an account after the slashes, as in"
        " container@account.dfs.core.windows.net/folder",
    ),
    "MissingAccessKeyId|MissingSecretAccessKey": (
        StoreError,
        "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of this node must both be given",
    ),
    "service account file": (
        StoreError,
        "the file of GOOGLE_APPLICATION_CREDENTIALS cannot be read",
    ),
}

_has_answered: set[object] = set()  # clients to which their store has answered

T = TypeVar("T")


class RemoteFile:
    """An object, or what is below its key; as `LocalFile`. Every method may raise StoreError."""

    def __init__(self, place: RemotePath) -> None:
        self._place, self._key = place, place.key
        # A client of each process: none survives a fork.
        self._client = (place.scheme, place.authority, place.query, os.getpid())

    def read(self, check_size: Callable[[int], None]) -> bytes | None:
        """The content, None if there is none; ``check_size`` gets its bytes first, may raise."""

        def content(client: Any) -> bytes:
            found = client.get(self._key)
            check_size(found.meta["size"])
            return bytes(found.bytes())

        return self._request("read", content)

    def write(self, data: bytes) -> None:
        """Write it whole."""
        self._request("write", lambda client: self._put(client, data), must_find=True)

    def create(self, data: bytes, token: str) -> bool:
        """Write it whole unless there is one; whether this did. The ``token`` is for `is_by`."""

        def create(client: Any) -> bool:
            try:
                self._put(client, data, mode="create", attributes={_TOKEN: token})
            except (AlreadyExistsError, PreconditionError):
                return False
            return True

        return bool(self._request("write", create, must_find=True))

    def is_by(self, token: str) -> bool:
        """Whether it was created with a token: by a request whose answer was lost."""
        known = self._request("look at", lambda client: client.get(self._key).attributes)
        return known is not None and known.get(_TOKEN) == token

    def _put(self, client: Any, data: bytes, **options: Any) -> None:
        client.put(self._key, data, chunk_size=_PART_BYTES, **options)

    def exists(self) -> bool:
        """Whether there is an object."""
        return self._request("look at", lambda client: client.head(self._key)) is not None

    def contents(self, *, deep: bool) -> list[tuple[str, str]]:
        """Paths and kinds of what is below the key; of all depths, if ``deep``, objects alone."""
        if deep:
            return [(file.path, "file") for file in self.stored_files()]

        def listed(client: Any) -> list[tuple[str, str]]:
            found = client.list_with_delimiter(self._key or None)
            paths = [(str(it["path"]), "file") for it in found["objects"]]
            paths += [(str(it), "folder") for it in found["common_prefixes"]]
            return [(path.rpartition("/")[2], kind) for path, kind in paths]

        return self._request("list", listed, must_find=True) or []

    def stored_files(self) -> list[StoredFile]:
        """All objects below the key, at any depth."""

        def listed(client: Any) -> list[StoredFile]:
            start = len(self._key) + 1 if self._key else 0
            return [
                StoredFile(it["path"][start:], it["size"], it["last_modified"])
                for some in client.list(self._key or None)
                for it in some
            ]

        return self._request("list", listed, must_find=True) or []

    def remove(self, others: Sequence[Place]) -> None:
        """Delete it, and ``others`` of S3: other stores stop at the first that does not exist."""
        keys = [self._key, *(place.key for place in others if isinstance(place, RemotePath))]
        self._request("delete", lambda client: client.delete(keys))

    def _request(
        self, action: str, request: Callable[[Any], T], *, must_find: bool = False
    ) -> T | None:
        """The result of a request; None if there is no such object and it need not exist."""
        try:
            result = request(_opened(*self._client))
        except FileNotFoundError as error:
            problem = str(error)
            if not must_find and _code(problem) not in _NO_BUCKET:
                return None
        except BaseError as error:
            problem = str(error)
        else:
            _has_answered.add(self._client)
            return result
        # Raised outside the handler, so that no traceback shows the store's own message.
        kind, reason = reason_of(problem, has_answered=self._client in _has_answered)
        raise kind(f"cannot {action} {self._place}: {reason}")


@cache
def _opened(scheme: str, authority: str, query: str, process: int) -> Any:
    return open_client(scheme, authority, query)


def open_client(scheme: str, authority: str, query: str) -> Any:
    """The store of obstore that a URI names; no request is made.

    Args:
        scheme: scheme of the URI.
        authority: bucket; for Azure the container, or ``container@account.dfs.core.windows.net``.
        query: settings: ``endpoint_override``, ``scheme`` (http or https) and, for S3, ``region``.

    Raises:
        PlaceError: scheme or setting are unknown, or the URI has no bucket.
        StoreError: the credentials of this node cannot be read.
    """
    if scheme not in _ENDPOINT_NAMES:
        known = ", ".join((*_ENDPOINT_NAMES, "file"))
        raise PlaceError(f"podium has no store for {scheme}:// URIs; known: {known}")
    settings = dict(parse_qsl(query, keep_blank_values=True))
    names = ["endpoint_override", *(["region"] if scheme == "s3" else []), "scheme"]
    if unknown := [name for name in settings if name not in names]:
        known = ", ".join(names)
        raise PlaceError(f"{scheme}:// URIs have no setting {unknown[0]!r}; known: {known}")
    protocol = settings.pop("scheme", "https")
    if protocol not in ("http", "https"):
        rule = f"scheme of an {scheme}:// URI must be one of http, https"
        raise PlaceError(f"{rule}; got {protocol}")
    if not authority:
        raise PlaceError(f"the {scheme}:// URI needs a bucket, as in {scheme}://bucket/folder")
    config = dict[str, str]()
    if endpoint := settings.pop("endpoint_override", ""):
        has_protocol = "://" in endpoint
        config[_ENDPOINT_NAMES[scheme]] = endpoint if has_protocol else f"{protocol}://{endpoint}"
    options: Any = {
        "config": {**config, **settings},
        "client_options": _CLIENT_OPTIONS,
        # Repeated by `with_retries`, which says so and knows what must not be repeated.
        "retry_config": {"max_retries": 0},
    }
    return from_url(f"{'gs' if scheme == 'gcs' else scheme}://{authority}", **options)


def reason_of(problem: str, *, has_answered: bool) -> tuple[type[StoreError], str]:
    """What a message of obstore means; ``has_answered``: whether the store did so before."""
    for sign, (known_kind, reason) in _MESSAGES.items():
        if re.search(sign, problem):
            return known_kind, reason
    if _METADATA_SERVICE.search(problem):
        # A role's credentials are renewed now and then.
        kind = UnreachableError if has_answered else StoreError
        return kind, (
            "no credentials on this node, whose environment must hold them; profiles of ~/.aws get"
            " there by eval $(aws configure export-credentials --format env)"
        )
    status = _STATUS.search(problem)
    if status is None and "HTTP error" in problem:
        return UnreachableError, "the store does not answer"
    number, name = status[1] if status else "", _code(problem)
    # Of a message of obstore itself, not what it quotes of the server's answer.
    first = problem.partition("\n")[0].partition(": ")[0] or "the request failed"
    answer = f"the store answers {number} {name}".rstrip() if status else first
    is_transient = _TRANSIENT_STATUS.fullmatch(number) or name in _TRANSIENT_CODES
    return UnreachableError if is_transient else StoreError, _REASONS.get(name, answer)


def _code(problem: str) -> str:
    """The error code that the store answered; empty if it gave none."""
    found = _CODE.search(problem)
    return found[1] if found else ""
