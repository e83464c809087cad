"""Requests to buckets of object stores, by obstore, and the errors that they end in.

By obstore and not by pyarrow, which can write no object on the condition that there is none
(``If-None-Match: *``): that is what makes the first commit win and a lock hold. It finds the
credentials of each node in its environment (`docs/how-to/storage.md`).

Errors show only the code and the status that the store answers: its own message may hold keys.
"""

import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
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
_TRANSIENT = re.compile(
    r"408|409|429|5(?!01|05)\d\d|RequestTimeout|SlowDown|InternalError|ServiceUnavailable"
)
_NO_BUCKET = {"NoSuchBucket", "ContainerNotFound"}
# What obstore itself says: its first words, since values may follow.
_OWN_WORDS = re.compile(r"Generic \w+ error: (?:GCP credential error: )?([A-Za-z ]+)")
_BAD_URL = re.compile("Account must be specified|did not match any known|recognise URL")

_has_answered: set[object] = set()  # clients to which their store has answered

T = TypeVar("T")


class RemoteFile:
    """An object, or what is below its key; as `LocalFile`. Every method may raise StoreError."""

    def __init__(self, place: RemotePath) -> None:
        self._place, self._key = place, place.key
        self._client = (place.scheme, place.authority, place.query, os.getpid())

    def read(self) -> bytes | None:
        """The content, None if there is none."""
        return self._request("read", lambda client: bytes(client.get(self._key).bytes()))

    def write(self, data: bytes) -> None:
        """Write it whole."""
        self._request("write", lambda client: self._put(client, data), must_find=True)

    def create(self, data: bytes, token: str) -> bool:
        """Write it whole unless there is one; whether this did. The ``token`` is for `is_by`."""

        def create(client: Any) -> bool:
            with suppress(AlreadyExistsError, PreconditionError):
                self._put(client, data, mode="create", attributes={_TOKEN: token})
                return True
            return False

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
            result = request(open_client(*self._client))
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
def open_client(scheme: str, authority: str, query: str, process: int = 0) -> Any:
    """The store of obstore that a URI names; no request is made. No client survives a fork.

    The authority is a bucket; for Azure the container, or
    ``container@account.dfs.core.windows.net``. The query may set ``endpoint_override``, ``scheme``
    (http or https) and, for S3, ``region``.

    Raises:
        PlaceError: scheme or setting are unknown, or the URI has no bucket.
        StoreError: the credentials of this node cannot be read.
    """
    if scheme not in _ENDPOINT_NAMES:
        known = ", ".join((*_ENDPOINT_NAMES, "file"))
        raise PlaceError(f"podium has no store for {scheme}:// URIs; known: {known}")
    settings = dict(parse_qsl(query, keep_blank_values=True))
    protocol = settings.pop("scheme", "https")
    names = {"endpoint_override", "region"} if scheme == "s3" else {"endpoint_override"}
    if unknown := [*(settings.keys() - names), *({protocol} - {"http", "https"})]:
        known = ", ".join(sorted(names))
        raise PlaceError(
            f"{scheme}:// URIs have the settings {known} and scheme (http or https), and no"
            f" {unknown[0]!r}"
        )
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
    if _METADATA_SERVICE.search(problem):
        # A role's credentials are renewed now and then.
        kind = UnreachableError if has_answered else StoreError
        return kind, (
            "no credentials on this node, whose environment must hold them; profiles of ~/.aws get"
            " there by eval $(aws configure export-credentials --format env)"
        )
    if _BAD_URL.search(problem):
        return PlaceError, (
            "the URI needs a bucket, as in s3://bucket/folder; or a container and its account, as"
            " in abfs://container@account.dfs.core.windows.net/folder"
        )
    if (status := _STATUS.search(problem)) is None:
        if "HTTP error" in problem:
            return UnreachableError, "the store does not answer"
        words = _OWN_WORDS.match(problem)
        told = words[1].strip().removesuffix(" from") if words else "the request failed"
        return StoreError, f"{told} (how nodes get credentials: docs/how-to/storage.md)"
    number, name = status[1], _code(problem)
    is_transient = any(map(_TRANSIENT.fullmatch, (number, name)))
    kind = UnreachableError if is_transient else StoreError
    if name in _NO_BUCKET:
        return kind, "there is no such bucket"
    if name == "AccessDenied":
        return kind, "the credentials of this node do not allow it (AccessDenied)"
    return kind, f"the store answers {number} {name}".rstrip()


def _code(problem: str) -> str:
    """The error code that the store answered; empty if it gave none."""
    found = _CODE.search(problem)
    return found[1] if found else ""
