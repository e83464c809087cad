"""A Ray cluster that is private to this process: loopback and a token, and how it ended."""

import atexit
import os
import secrets
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

# isort: off
import orchestrator.executors.ray_environment  # noqa: F401 - Ray reads it when it is imported
from ray._private import ray_constants
from ray._private import worker as ray_worker
from ray._raylet import Config  # type: ignore[attr-defined]

# isort: on

from orchestrator.executors.private_folders import PrivateFolder

__all__ = ["OwnRay", "loopback_only", "use_private_token"]

_CLUSTERS = ray_constants.ENABLE_RAY_CLUSTERS_ENV_VAR
_NEEDED = (ray_constants.PROCESS_TYPE_GCS_SERVER, ray_constants.PROCESS_TYPE_RAYLET)


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


@cache
def use_private_token() -> None:
    """Make a token for the clusters of this process, readable by this user only.

    There is one for the whole process, since Ray reads the token once. It is demanded even if the
    user joins other clusters without a token, or with another.
    """
    folder = PrivateFolder()
    atexit.register(folder.remove)
    path = folder.path / "token"
    path.touch(mode=0o600)
    path.write_text(secrets.token_hex(32))
    os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN_PATH=str(path))
    os.environ.pop("RAY_AUTH_TOKEN", None)  # Ray would take it first
    Config.initialize("")  # else Ray keeps to the mode that it read when it was loaded


class OwnRay:
    """The Ray that this process has started, to be asked whether and why it ended.

    Args:
        folder: folder in which it has its logs.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        node: Any = ray_worker._global_node
        self._processes: dict[str, Any] = {
            name: node.all_processes[name][0].process for name in _NEEDED
        }

    def end(self) -> str | None:
        """Why it ended; None while the processes that it cannot be without are alive."""
        ends = {name: process.poll() for name, process in self._processes.items()}
        reasons = [f"its {name} {_ended(code)}" for name, code in ends.items() if code is not None]
        return " and ".join(reasons) or None


def _ended(exit_code: int) -> str:
    if exit_code >= 0:
        return f"ended with exit code {exit_code}"
    name = signal.Signals(-exit_code).name
    hint = ", as where the machine's memory runs out" if -exit_code == signal.SIGKILL else ""
    return f"was ended by {name}{hint}"
