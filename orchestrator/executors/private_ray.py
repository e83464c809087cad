"""Keeps a Ray cluster private to this process: loopback, a token, private folders."""

import atexit
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

# isort: off
import orchestrator.executors.ray_environment  # noqa: F401 - Ray reads it when it is imported
from ray._private import ray_constants
from ray._raylet import Config  # type: ignore[attr-defined]

# isort: on

__all__ = ["loopback_only", "private_folder", "use_private_token"]

_CLUSTERS = ray_constants.ENABLE_RAY_CLUSTERS_ENV_VAR


@contextmanager
def loopback_only() -> Iterator[None]:
    """A cluster that is started within the block listens on loopback alone.

    On Linux Ray takes the machine's own address, and then listens on all of them; asked for
    127.0.0.1 it takes the machine's address in its place. Where several nodes make no cluster, as
    on Windows and macOS, it stays on loopback: within the block it takes this machine for one.
    """
    before, was_enabled = os.environ.get(_CLUSTERS), ray_constants.ENABLE_RAY_CLUSTER
    os.environ[_CLUSTERS], ray_constants.ENABLE_RAY_CLUSTER = "0", False
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = was_enabled
        if before is None:
            del os.environ[_CLUSTERS]
        else:
            os.environ[_CLUSTERS] = before


def private_folder() -> Path:
    """A new folder that only this user can enter.

    Ray makes all its folders writable for every user, those of its sockets and logs too, so they
    belong below one that is not. It is near the root, because names of sockets must be short.
    """
    return Path(tempfile.mkdtemp(prefix="podium-", dir=os.environ.get("RAY_TMPDIR", "/tmp")))


@cache
def use_private_token() -> None:
    """Make a token for the clusters of this process, readable by this user only.

    There is one for the whole process, since Ray reads the token once. It is demanded even if the
    user joins other clusters without a token, or with another.
    """
    folder = Path(tempfile.mkdtemp(prefix="podium-token-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / "token"
    path.touch(mode=0o600)
    path.write_text(secrets.token_hex(32))
    os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN_PATH=str(path))
    os.environ.pop("RAY_AUTH_TOKEN", None)  # Ray would take it first
    Config.initialize("")  # else Ray keeps to the mode that it read when it was loaded
