"""Stores that speak the protocol of Amazon S3.

By obstore, the Rust crate object_store, and not by pyarrow's S3FileSystem: version 26 of that can
write no object on the condition that there is none (``If-None-Match: *``), which is what makes the
first commit win and a lock hold; boto3 can, and weighs thirty times as much. One client does
everything, so that there is one way in which credentials are found.

Errors show only the code and the status that the store answers: its own message may hold keys.
"""

import configparser
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from orchestrator.results.storage.object_store import TRANSIENT_STATUS, BackendError, Listing

__all__ = ["S3"]

_CONNECT_SECONDS, _READ_SECONDS, _REQUEST_SECONDS = 5, 30, 900
_PART_BYTES = 64 * 2**20  # larger objects are sent in parts, and appear when the last is there
_TOKEN = "podium-writer"
_SETTINGS = ("endpoint_override", "region", "scheme")
_SCHEMES = ("http", "https")
_METADATA_SERVICE = "169.254.169.254"
_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>(\w+)</Code>")
_TRANSIENT_STATUS = {*TRANSIENT_STATUS, "408", "409"}
_PERMANENT = {
    "501",
    "505",
}  # of 5xx; proxies such as Cloudflare have codes of their own
_TRANSIENT_CODES = {"RequestTimeout", "SlowDown", "InternalError", "ServiceUnavailable"}
_REASONS = {
    "NoSuchBucket": "there is no such bucket",
    "AccessDenied": "the credentials of this node do not allow it (AccessDenied)",
    "InvalidAccessKeyId": "the store does not know the access key of this node",
    "SignatureDoesNotMatch": "the secret key of this node does not fit its access key",
    "ExpiredToken": "the session token of this node has expired",
    "RequestTimeTooSkewed": "the clock of this machine is wrong by more than the store allows",
}
_OTHER_SOURCES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)

T = TypeVar("T")


class S3:
    """One bucket.

    Args:
        bucket: name of the bucket.
        query: settings in the URI: ``endpoint_override``, ``region`` and ``scheme``.

    Raises:
        BackendError: a setting is unknown, or a profile has no keys.
    """

    leaves_temporaries = False
    create_is_atomic = True

    def __init__(self, bucket: str, query: str) -> None:
        import obstore
        from obstore.store import S3Store

        settings = dict(parse_qsl(query, keep_blank_values=True))
        for name in settings:
            if name not in _SETTINGS:
                raise BackendError(
                    f"s3:// URIs have no setting {name!r}; known: {', '.join(_SETTINGS)}",
                    is_wrong_uri=True,
                )
        if (scheme := settings.get("scheme", "https")) not in _SCHEMES:
            raise BackendError(
                f"scheme of an s3:// URI must be one of {', '.join(_SCHEMES)}; got {scheme}",
                is_wrong_uri=True,
            )
        if not bucket:
            raise BackendError(
                "an s3:// URI needs a bucket, as in s3://bucket/folder", is_wrong_uri=True
            )
        profile = _profile()
        endpoint = _endpoint(settings, profile)
        region = settings.get("region") or _region(profile)
        # By DELETE: the request for many objects is not known to every such store.
        config: dict[str, Any] = {"region": region, "disable_bulk_delete": True}
        config |= {"endpoint": endpoint} if endpoint else {}
        if not any(os.environ.get(name) for name in _OTHER_SOURCES):
            config |= _profile_keys(profile)
        self._obstore = obstore
        self._has_worked = False
        store = self._request(
            lambda: S3Store(
                bucket,
                **config,
                client_options={
                    "allow_http": endpoint.startswith("http://"),
                    "connect_timeout": f"{_CONNECT_SECONDS}s",
                    "read_timeout": f"{_READ_SECONDS}s",
                    "timeout": f"{_REQUEST_SECONDS}s",
                },
                # Repeated by `with_retries`, which knows what must not be repeated.
                retry_config={"max_retries": 0},
            )
        )
        assert store is not None
        self._store = store
        self._has_worked = False

    def read(self, key: str, check_size: Callable[[int], None]) -> bytes | None:
        """See `Backend`."""

        def content() -> bytes:
            found = self._obstore.get(self._store, key)
            check_size(found.meta["size"])
            return bytes(found.bytes())

        return self._request(content)

    def write(self, key: str, content: bytes | Path) -> None:
        """See `Backend`."""
        self._request(lambda: self._put(key, content), must_find=True)

    def create(self, key: str, content: bytes, token: str) -> bool:
        """See `Backend`."""
        from obstore.exceptions import AlreadyExistsError

        def put() -> bool:
            try:
                self._put(key, content, mode="create", attributes={_TOKEN: token})
            except AlreadyExistsError:
                return False
            return True

        return bool(self._request(put, must_find=True))

    def has_token(self, key: str, token: str) -> bool:
        """See `Backend`."""
        found = self._request(lambda: self._obstore.get(self._store, key).attributes.get(_TOKEN))
        return found == token

    def size(self, key: str) -> int | None:
        """See `Backend`."""
        return self._request(lambda: int(self._obstore.head(self._store, key)["size"]))

    def listing(self, key: str, *, deep: bool) -> Listing:
        """See `Backend`."""
        listed = self._request(lambda: self._listed(key, deep=deep), must_find=True)
        assert listed is not None
        return listed

    def delete(self, key: str) -> None:
        """See `Backend`."""
        self._request(lambda: self._obstore.delete(self._store, key))

    def delete_folder(self, key: str) -> None:
        """See `Backend`; there are no folders here, only keys with slashes."""

    def _put(self, key: str, content: bytes | Path, **options: Any) -> None:
        self._obstore.put(self._store, key, content, chunk_size=_PART_BYTES, **options)

    def _listed(self, key: str, *, deep: bool) -> Listing:
        if deep:
            chunks = self._obstore.list(self._store, key or None)
            return Listing(
                sizes={item["path"]: item["size"] for chunk in chunks for item in chunk},
                folders=(),
            )
        found = self._obstore.list_with_delimiter(self._store, key or None)
        return Listing(
            sizes={item["path"]: item["size"] for item in found["objects"]},
            folders=[str(folder) for folder in found["common_prefixes"]],
        )

    def _request(self, action: Callable[[], T], *, must_find: bool = False) -> T | None:
        """The result of an action; None if there is no such object and it need not exist."""
        from obstore.exceptions import BaseError

        try:
            result = action()
        except FileNotFoundError as error:
            problem = str(error)
            if not must_find and "NoSuchBucket" not in problem:
                return None
        except BaseError as error:
            problem = str(error)
        else:
            self._has_worked = True
            return result
        # Raised outside the handler, so that no traceback shows the store's own message.
        raise self._error(problem)

    def _error(self, problem: str) -> BackendError:
        if "MissingAccessKeyId" in problem or "MissingSecretAccessKey" in problem:
            return BackendError(
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of this node must both be given"
            )
        if _METADATA_SERVICE in problem:
            return BackendError(
                "no credentials: this node has neither AWS_ACCESS_KEY_ID, a profile, nor the role"
                " of an instance (see docs/storage.md)",
                is_transient=self._has_worked,  # a role's credentials are renewed now and then
            )
        status, code = _STATUS.search(problem), _CODE.search(problem)
        if status is None and "HTTP error" in problem:
            return BackendError("the store does not answer", is_transient=True)
        number = status[1] if status else ""
        name = code[1] if code else ""
        answer = f"the store answers {number} {name}".rstrip() if status else _first_line(problem)
        return BackendError(
            _REASONS.get(name, answer),
            is_transient=number in _TRANSIENT_STATUS
            or (number.startswith("5") and number not in _PERMANENT)
            or name in _TRANSIENT_CODES,
        )


def _first_line(problem: str) -> str:
    """The message of obstore itself, without what it quotes of the server's answer."""
    return problem.partition("\n")[0].partition(": ")[0] or "the request failed"


def _profile() -> Mapping[str, str]:
    """Settings of the chosen profile in the files of the AWS command line; may be empty."""
    name = os.environ.get("AWS_PROFILE") or "default"
    folder = Path.home() / ".aws"
    found: dict[str, str] = {}
    for variable, file, section in (
        ("AWS_CONFIG_FILE", "config", name if name == "default" else f"profile {name}"),
        ("AWS_SHARED_CREDENTIALS_FILE", "credentials", name),
    ):
        parser = configparser.RawConfigParser()
        try:
            parser.read(os.environ.get(variable) or folder / file, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError, OSError):
            raise BackendError(f"the AWS {file} file of this node cannot be read") from None
        if parser.has_section(section):
            found |= dict(parser.items(section))
    if not found and os.environ.get("AWS_PROFILE"):
        raise BackendError(f"AWS_PROFILE is {name!r}, which no AWS file of this node has")
    return found


def _profile_keys(profile: Mapping[str, str]) -> dict[str, str]:
    names = {
        "access_key_id": "aws_access_key_id",
        "secret_access_key": "aws_secret_access_key",
        "session_token": "aws_session_token",
    }
    if profile and "aws_access_key_id" not in profile and os.environ.get("AWS_PROFILE"):
        raise BackendError(
            "the profile in AWS_PROFILE has no access key; bring its credentials into the"
            " environment: eval $(aws configure export-credentials --format env)"
        )
    return {name: profile[key] for name, key in names.items() if key in profile}


def _region(profile: Mapping[str, str]) -> str:
    given = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    return given or profile.get("region") or "us-east-1"


def _endpoint(settings: Mapping[str, str], profile: Mapping[str, str]) -> str:
    """The URL of the service; empty for Amazon's own."""
    if given := settings.get("endpoint_override"):
        return given if "://" in given else f"{settings.get('scheme', 'https')}://{given}"
    names = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
    named = next((os.environ[name] for name in names if os.environ.get(name)), None)
    return named or profile.get("endpoint_url") or ""
