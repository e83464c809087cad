"""Clients of the object stores that a URI can name: Amazon's, Google's and Azure's.

They find their credentials in the environment of each node, as `docs/how-to/storage.md` says.
"""

import configparser
import os
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from orchestrator.results.storage.object_store import ObjectStore, RequestError

_CONNECT_SECONDS, _READ_SECONDS, _REQUEST_SECONDS = 5, 30, 900
_SETTINGS = ("endpoint_override", "scheme")
_PROTOCOLS = ("http", "https")
_OTHER_SOURCES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)


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

    endpoint = _endpoint(scheme, settings, (*_SETTINGS, "region"))
    if not bucket:
        raise _wrong_uri("an s3:// URI needs a bucket, as in s3://bucket/folder")
    profile = _profile()
    endpoint = endpoint or _aws_endpoint(profile)
    config: dict[str, Any] = {"region": settings.get("region") or _region(profile)}
    if not any(os.environ.get(name) for name in _OTHER_SOURCES):
        config |= _profile_keys(profile)
    if endpoint:
        config["endpoint"] = endpoint

    def opened(*, deletes_many: bool) -> Any:
        # One object by DELETE: the request for many is not known to every such store.
        whole = {**config, "disable_bulk_delete": not deletes_many}
        return S3Store(bucket, **whole, **_options(endpoint))

    return ObjectStore(
        partial(opened, deletes_many=False),
        "no credentials: this node has neither AWS_ACCESS_KEY_ID, a profile, nor the role"
        " of an instance (see docs/how-to/storage.md)",
        open_for_many=cache(partial(opened, deletes_many=True)),
    )


def _open_google(scheme: str, bucket: str, settings: Mapping[str, str]) -> ObjectStore:
    from obstore.store import GCSStore

    endpoint = _endpoint(scheme, settings, _SETTINGS)
    if not bucket:
        raise _wrong_uri(f"a {scheme}:// URI needs a bucket, as in {scheme}://bucket/folder")
    config: Any = {"base_url": endpoint} if endpoint else {}
    return ObjectStore(
        lambda: GCSStore(bucket, config=config, **_options(endpoint)),
        "no credentials: this node has neither GOOGLE_APPLICATION_CREDENTIALS, a login of gcloud,"
        " nor the service account of an instance (see docs/how-to/storage.md)",
    )


def _open_azure(scheme: str, authority: str, settings: Mapping[str, str]) -> ObjectStore:
    from obstore.store import AzureStore

    endpoint = _endpoint(scheme, settings, _SETTINGS)
    container, _, host = authority.partition("@")
    account, _, domain = host.partition(".")
    has_account = domain or (not host and os.environ.get("AZURE_STORAGE_ACCOUNT_NAME"))
    if not container or "." in container or not has_account:
        raise _wrong_uri(
            f"an {scheme}:// URI needs a container and an account after the slashes, as in"
            " container@account.dfs.core.windows.net/folder"
        )
    config: dict[str, Any] = {}
    if account:
        domain = domain.removeprefix("dfs.").removeprefix("blob.")
        config["account_name"] = account
        endpoint = endpoint or f"https://{account}.blob.{domain}"
    if endpoint:
        config["endpoint"] = endpoint
    return ObjectStore(
        lambda: AzureStore(container, **config, **_options(endpoint)),
        "no credentials: this node has neither AZURE_STORAGE_ACCOUNT_KEY, a service principal, nor"
        " a managed identity (see docs/how-to/storage.md)",
    )


_OPENED_BY: dict[str, Callable[[str, str, Mapping[str, str]], ObjectStore]] = {
    "s3": _open_s3,
    "gs": _open_google,
    "gcs": _open_google,
    "abfs": _open_azure,
    "abfss": _open_azure,
    "az": _open_azure,
}


def _endpoint(scheme: str, settings: Mapping[str, str], known: tuple[str, ...]) -> str:
    """The URL of the service that the settings name; empty for the one of the environment."""
    for name in settings:
        if name not in known:
            raise _wrong_uri(
                f"{scheme}:// URIs have no setting {name!r}; known: {', '.join(sorted(known))}"
            )
    if (protocol := settings.get("scheme", "https")) not in _PROTOCOLS:
        raise _wrong_uri(
            f"scheme of an {scheme}:// URI must be one of {', '.join(_PROTOCOLS)}; got {protocol}"
        )
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
    return RequestError(reason, is_wrong_uri=True)


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
            raise RequestError(f"the AWS {file} file of this node cannot be read") from None
        if parser.has_section(section):
            found |= dict(parser.items(section))
    if not found and os.environ.get("AWS_PROFILE"):
        raise RequestError(f"AWS_PROFILE is {name!r}, which no AWS file of this node has")
    return found


def _profile_keys(profile: Mapping[str, str]) -> dict[str, str]:
    names = {
        "access_key_id": "aws_access_key_id",
        "secret_access_key": "aws_secret_access_key",
        "session_token": "aws_session_token",
    }
    if profile and "aws_access_key_id" not in profile and os.environ.get("AWS_PROFILE"):
        raise RequestError(
            "the profile in AWS_PROFILE has no access key; bring its credentials into the"
            " environment: eval $(aws configure export-credentials --format env)"
        )
    return {name: profile[key] for name, key in names.items() if key in profile}


def _region(profile: Mapping[str, str]) -> str:
    given = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    return given or profile.get("region") or "us-east-1"


def _aws_endpoint(profile: Mapping[str, str]) -> str:
    """The URL of the service of this node; empty for Amazon's own."""
    names = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
    named = next((os.environ[name] for name in names if os.environ.get(name)), None)
    return named or profile.get("endpoint_url") or ""
