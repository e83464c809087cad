"""Clients of the object stores that a URI can name: Amazon's, Google's and Azure's.

They find their credentials in the environment of each node, as `docs/how-to/storage.md` says.
obstore reads all of them but the files of the AWS command line.
"""

import configparser
import os
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from orchestrator.results.storage.locations import RemotePath
from orchestrator.results.storage.object_store import ObjectStore, RequestError
from podium.errors import PlaceError

_CONNECT_SECONDS, _READ_SECONDS, _REQUEST_SECONDS = 5, 30, 900
_OTHER_SOURCES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)
_PROFILE_KEYS = ("access_key_id", "secret_access_key", "session_token")  # after "aws_"


def store_of(place: RemotePath) -> ObjectStore:
    """The store of a place; RequestError as `open_store`."""
    return _opened(place.scheme, place.authority, place.query, os.getpid())


@cache
def _opened(scheme: str, authority: str, query: str, process: int) -> ObjectStore:
    """One client for each bucket in each process; a client does not survive a fork."""
    return open_store(scheme, authority, query)


def open_store(scheme: str, authority: str, query: str) -> ObjectStore:
    """The store of a URI; no request is made.

    Args:
        scheme: scheme of the URI.
        authority: bucket; for Azure the container, or ``container@account.dfs.core.windows.net``.
        query: settings: ``endpoint_override``, ``scheme`` (http or https) and, for S3, ``region``.

    Raises:
        RequestError: the scheme or a setting is unknown, there is no bucket, or a profile of AWS
            has no keys.
    """
    if scheme not in _OPENED_BY:
        known = ", ".join((*_OPENED_BY, "file"))
        raise _wrong_uri(f"podium has no store for {scheme}:// URIs; known: {known}")
    return _OPENED_BY[scheme](scheme, authority, dict(parse_qsl(query, keep_blank_values=True)))


def _open_s3(scheme: str, bucket: str, settings: Mapping[str, str]) -> ObjectStore:
    from obstore.store import S3Store

    given = _endpoint(scheme, bucket, settings, "region")
    profile = _profile()
    endpoint = given or _setting(
        "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", otherwise=profile.get("endpoint_url", "")
    )
    region = settings.get("region") or _setting(
        "AWS_REGION", "AWS_DEFAULT_REGION", otherwise=profile.get("region") or "us-east-1"
    )
    keys = {} if _setting(*_OTHER_SOURCES) else _keys_of(profile)
    config: dict[str, Any] = {"region": region, **keys}
    if endpoint:
        config["endpoint"] = endpoint

    def opened(*, deletes_many: bool) -> Any:
        # One object by DELETE: the request for many is not known to every such store.
        return S3Store(
            bucket, **config, **_options(endpoint), disable_bulk_delete=not deletes_many
        )

    return ObjectStore(
        partial(opened, deletes_many=False),
        "no credentials: this node has neither AWS_ACCESS_KEY_ID, a profile, nor the role"
        " of an instance (see docs/how-to/storage.md)",
        open_for_many=cache(partial(opened, deletes_many=True)),
    )


def _open_google(scheme: str, bucket: str, settings: Mapping[str, str]) -> ObjectStore:
    from obstore.store import GCSStore

    endpoint = _endpoint(scheme, bucket, settings)
    config: Any = {"base_url": endpoint} if endpoint else {}
    return ObjectStore(
        lambda: GCSStore(bucket, config=config, **_options(endpoint)),
        "no credentials: this node has neither GOOGLE_APPLICATION_CREDENTIALS, a login of gcloud,"
        " nor the service account of an instance (see docs/how-to/storage.md)",
    )


def _open_azure(scheme: str, authority: str, settings: Mapping[str, str]) -> ObjectStore:
    from obstore.store import AzureStore

    container, _, host = authority.partition("@")
    account, _, domain = host.partition(".")
    has_account = domain or (not host and _setting("AZURE_STORAGE_ACCOUNT_NAME"))
    if not container or "." in container or not has_account:
        raise _wrong_uri(
            f"an {scheme}:// URI needs a container and an account after the slashes, as in"
            " container@account.dfs.core.windows.net/folder"
        )
    endpoint = _endpoint(scheme, container, settings)
    config: dict[str, Any] = {"account_name": account} if account else {}
    if account and not endpoint:
        endpoint = f"https://{account}.blob.{domain.removeprefix('dfs.').removeprefix('blob.')}"
    if endpoint:
        config["endpoint"] = endpoint
    return ObjectStore(
        lambda: AzureStore(container, **config, **_options(endpoint)),
        "no credentials: this node has neither AZURE_STORAGE_ACCOUNT_KEY, a service principal, nor"
        " a managed identity (see docs/how-to/storage.md)",
    )


_OPENED_BY: dict[str, Callable[[str, str, Mapping[str, str]], ObjectStore]] = {
    "s3": _open_s3,
    **dict.fromkeys(("gs", "gcs"), _open_google),
    **dict.fromkeys(("abfs", "abfss", "az"), _open_azure),
}


def _endpoint(scheme: str, bucket: str, settings: Mapping[str, str], *more: str) -> str:
    """The URL of the service that the settings name; empty for the one of the environment.

    RequestError if there is no bucket, or for a setting that no scheme has, nor is of ``more``.
    """
    known = sorted(("endpoint_override", "scheme", *more))
    for name in settings:
        if name not in known:
            raise _wrong_uri(
                f"{scheme}:// URIs have no setting {name!r}; known: {', '.join(known)}"
            )
    protocol = settings.get("scheme", "https")
    if protocol not in ("http", "https"):
        raise _wrong_uri(
            f"scheme of an {scheme}:// URI must be one of http, https; got {protocol}"
        )
    if not bucket:
        raise _wrong_uri(f"the {scheme}:// URI needs a bucket, as in {scheme}://bucket/folder")
    given = settings.get("endpoint_override", "")
    return given if not given or "://" in given else f"{protocol}://{given}"


def _options(endpoint: str) -> dict[str, Any]:
    return {
        "client_options": {
            "allow_http": endpoint.startswith("http://"),
            "connect_timeout": f"{_CONNECT_SECONDS}s",
            "read_timeout": f"{_READ_SECONDS}s",
            "timeout": f"{_REQUEST_SECONDS}s",
        },
        # Repeated by `with_retries`, which knows what must not be repeated.
        "retry_config": {"max_retries": 0},
    }


def _wrong_uri(reason: str) -> RequestError:
    return RequestError(reason, PlaceError)


def _setting(*variables: str, otherwise: str = "") -> str:
    """The first of some variables of the environment that is not empty."""
    return next(filter(None, map(os.environ.get, variables)), otherwise)


def _profile() -> Mapping[str, str]:
    """Settings of the chosen profile in the files of the AWS command line; may be empty."""
    chosen = _setting("AWS_PROFILE")
    name = chosen or "default"
    found: dict[str, str] = {}
    for variable, file, section in (
        ("AWS_CONFIG_FILE", "config", name if name == "default" else f"profile {name}"),
        ("AWS_SHARED_CREDENTIALS_FILE", "credentials", name),
    ):
        parser = configparser.RawConfigParser()
        try:
            parser.read(_setting(variable) or Path.home() / ".aws" / file, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError, OSError):
            raise RequestError(f"the AWS {file} file of this node cannot be read") from None
        if parser.has_section(section):
            found |= dict(parser.items(section))
    if not found and chosen:
        raise RequestError(f"AWS_PROFILE is {name!r}, which no AWS file of this node has")
    return found


def _keys_of(profile: Mapping[str, str]) -> dict[str, str]:
    if profile and "aws_access_key_id" not in profile and _setting("AWS_PROFILE"):
        raise RequestError(
            "the profile in AWS_PROFILE has no access key; bring its credentials into the"
            " environment: eval $(aws configure export-credentials --format env)"
        )
    return {key: profile[f"aws_{key}"] for key in _PROFILE_KEYS if f"aws_{key}" in profile}
