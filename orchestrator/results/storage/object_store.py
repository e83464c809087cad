"""Requests to one bucket of an object store, by obstore, and the errors that they end in.

By obstore and not by pyarrow, which can write no object on the condition that there is none
(``If-None-Match: *``): that is what makes the first commit win and a lock hold. It finds the
credentials of each node in the environment, but for the files of the AWS command line, which are
read here (`docs/how-to/storage.md`).

Errors show only the code and the status that the store answers: its own message may hold keys.
"""

import configparser
import os
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from orchestrator.results.storage.locations import RemotePath, StoredFile
from podium.errors import PlaceError, StoreError, UnreachableError

_PART_BYTES = 64 * 2**20  # larger objects are sent in parts, and appear when the last is there
_CONNECT_SECONDS, _READ_SECONDS, _REQUEST_SECONDS = 5, 30, 900
_TOKEN = "podiumwriter"  # of letters alone: Azure allows no other names of metadata
_ENDPOINT_NAMES = {
    **dict.fromkeys(("s3", "abfs", "abfss", "az"), "endpoint"),
    **dict.fromkeys(("gs", "gcs"), "base_url"),
}
_OTHER_CREDENTIALS = (
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)
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
_MESSAGES = (
    (
        re.compile("Account must be specified|did not match any known"),
        "the URI needs a container and an account after the slashes, as in"
        " container@account.dfs.core.windows.net/folder",
        PlaceError,
    ),
    (
        re.compile("MissingAccessKeyId|MissingSecretAccessKey"),
        "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of this node must both be given",
        StoreError,
    ),
    (
        re.compile("service account file"),
        "the file of GOOGLE_APPLICATION_CREDENTIALS cannot be read",
        StoreError,
    ),
)

T = TypeVar("T")


class RequestError(Exception):
    """A request failed, for a reason that holds no credentials.

    Attributes:
        kind: class of the error for the user, which also says where the request went.
    """

    def __init__(self, reason: str, kind: type[StoreError] = StoreError) -> None:
        super().__init__(reason)
        self.kind = kind


def store_of(place: RemotePath) -> "ObjectStore":
    """The store of a place; no request is made.

    Raises:
        RequestError: the scheme or a setting is unknown, there is no bucket or account, or the
            credentials of this node cannot be read.
    """
    return _opened(place.scheme, place.authority, place.query, os.getpid())


@cache
def _opened(scheme: str, authority: str, query: str, process: int) -> "ObjectStore":
    """One client for each bucket in each process; a client does not survive a fork."""
    return ObjectStore(lambda: open_client(scheme, authority, query))


def open_client(scheme: str, authority: str, query: str) -> Any:
    """The store of obstore that a URI names.

    Args:
        scheme: scheme of the URI.
        authority: bucket; for Azure the container, or ``container@account.dfs.core.windows.net``.
        query: settings: ``endpoint_override``, ``scheme`` (http or https) and, for S3, ``region``.
    """
    from obstore.store import from_url

    if scheme not in _ENDPOINT_NAMES:
        known = ", ".join((*_ENDPOINT_NAMES, "file"))
        raise _wrong_uri(f"podium has no store for {scheme}:// URIs; known: {known}")
    settings = dict(parse_qsl(query, keep_blank_values=True))
    names = ["endpoint_override", *(["region"] if scheme == "s3" else []), "scheme"]
    for name in settings:
        if name not in names:
            known = ", ".join(names)
            raise _wrong_uri(f"{scheme}:// URIs have no setting {name!r}; known: {known}")
    protocol = settings.pop("scheme", "https")
    if protocol not in ("http", "https"):
        rule = f"scheme of an {scheme}:// URI must be one of http, https"
        raise _wrong_uri(f"{rule}; got {protocol}")
    if not authority:
        raise _wrong_uri(f"the {scheme}:// URI needs a bucket, as in {scheme}://bucket/folder")
    config = _profile_keys() if scheme == "s3" else {}
    if endpoint := settings.pop("endpoint_override", ""):
        has_protocol = "://" in endpoint
        config[_ENDPOINT_NAMES[scheme]] = endpoint if has_protocol else f"{protocol}://{endpoint}"
    options: Any = {
        "config": {**config, **settings},
        "client_options": {
            "allow_http": True,
            "connect_timeout": f"{_CONNECT_SECONDS}s",
            "read_timeout": f"{_READ_SECONDS}s",
            "timeout": f"{_REQUEST_SECONDS}s",
        },
        # Repeated by `with_retries`, which says so and knows what must not be repeated.
        "retry_config": {"max_retries": 0},
    }
    return from_url(f"{'gs' if scheme == 'gcs' else scheme}://{authority}", **options)


def _profile_keys() -> dict[str, str]:
    """The keys of AWS_PROFILE, or of ``default``, in the files of the AWS command line."""
    if any(map(os.environ.get, _OTHER_CREDENTIALS)):
        return {}
    chosen, folder = os.environ.get("AWS_PROFILE"), Path.home() / ".aws"
    files = [
        os.environ.get("AWS_CONFIG_FILE") or folder / "config",
        os.environ.get("AWS_SHARED_CREDENTIALS_FILE") or folder / "credentials",
    ]
    parser = configparser.RawConfigParser()
    try:
        parser.read(files, encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError, OSError):
        raise RequestError("the AWS files of this node cannot be read") from None
    sections = [it for it in (f"profile {chosen}", chosen or "default") if parser.has_section(it)]
    found = {name: value for section in sections for name, value in parser.items(section)}
    if chosen and "aws_access_key_id" not in found:
        raise RequestError(
            f"AWS_PROFILE is {chosen!r}, which has no access key in the AWS files of this node;"
            " bring its credentials into the environment: eval $(aws configure"
            " export-credentials --format env)"
        )
    keys = ("access_key_id", "secret_access_key", "session_token")
    return {key: found[f"aws_{key}"] for key in keys if f"aws_{key}" in found}


def _wrong_uri(reason: str) -> RequestError:
    return RequestError(reason, PlaceError)


class ObjectStore:
    """One bucket, whose objects appear whole or not at all. Every method may raise RequestError.

    Keys are paths within the bucket, without a slash at either end; the empty key is the bucket.

    Args:
        open_client: makes the store of obstore.
    """

    def __init__(self, open_client: Callable[[], Any]) -> None:
        import obstore

        self._obstore = obstore
        self._has_worked = False
        self._client: Any = self._request(open_client, must_find=True)
        self._has_worked = False  # opening it makes no request

    def read(self, key: str, check_size: Callable[[int], None]) -> bytes | None:
        """The content of an object, None if there is none.

        Args:
            key: key of the object.
            check_size: called with the number of its bytes before they are read; may raise.
        """

        def content() -> bytes:
            found = self._obstore.get(self._client, key)
            check_size(found.meta["size"])
            return bytes(found.bytes())

        return self._request(content)

    def write(self, key: str, content: bytes) -> None:
        """Write an object whole."""
        self._request(lambda: self._put(key, content), must_find=True)

    def create(self, key: str, content: bytes, token: str) -> bool:
        """Write an object whole unless there is one; whether this call wrote it.

        Args:
            key: key of the object.
            content: its bytes.
            token: kept with the object, for `has_token`.
        """
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        def create() -> bool:
            try:
                self._put(key, content, mode="create", attributes={_TOKEN: token})
            except (AlreadyExistsError, PreconditionError):
                return False
            return True

        return bool(self._request(create, must_find=True))

    def _put(self, key: str, content: bytes, **options: Any) -> None:
        self._obstore.put(self._client, key, content, chunk_size=_PART_BYTES, **options)

    def has_token(self, key: str, token: str) -> bool:
        """Whether the object was created with this token: by a request whose answer was lost."""
        found = self._request(lambda: self._obstore.get(self._client, key).attributes.get(_TOKEN))
        return found == token

    def exists(self, key: str) -> bool:
        """Whether there is an object."""
        return self._request(lambda: self._obstore.head(self._client, key)) is not None

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

    def delete(self, keys: Sequence[str]) -> None:
        """Delete objects, several of S3 only: others stop at the first that does not exist."""
        self._request(lambda: self._obstore.delete(self._client, keys))

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
        for sign, reason, known_kind in _MESSAGES:
            if sign.search(problem):
                return RequestError(reason, known_kind)
        if _METADATA_SERVICE.search(problem):
            # A role's credentials are renewed now and then.
            kind = UnreachableError if self._has_worked else StoreError
            return RequestError("no credentials on this node (see docs/how-to/storage.md)", kind)
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
