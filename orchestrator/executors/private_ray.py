"""A Ray cluster that is private to this process: loopback, a token, few parts, how it ended."""

import atexit
import os
import secrets
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path

import psutil
from ray._private import ray_constants, services
from ray._private.node import Node
from ray._raylet import Config  # type: ignore[attr-defined]

from podium.orchestrator.executors.private_folders import PrivateFolder
from podium.orchestrator.executors.ray_environment import replaced
from podium.orchestrator.scheduling.executor_interface import ClusterGoneError

_CLUSTERS = ray_constants.ENABLE_RAY_CLUSTERS_ENV_VAR
_NEEDED = (ray_constants.PROCESS_TYPE_GCS_SERVER, ray_constants.PROCESS_TYPE_RAYLET)
# What one machine can do without: it does not grow, logs stay in their files, and there is no
# dashboard.
_NEEDLESS = ("start_monitor", "start_log_monitor", "start_api_server")
_PAUSE_SECONDS = 1.0


@contextmanager
def loopback_only() -> Iterator[None]:
    """A cluster that is started within the block listens on loopback alone.

    On Linux Ray takes the machine's own address, and then listens on all of them; asked for
    127.0.0.1 it takes the machine's address in its place. Where several nodes make no cluster, as
    on Windows and macOS, it stays on loopback: within the block it takes this machine for one.
    """
    before = os.environ.get(_CLUSTERS)
    os.environ[_CLUSTERS] = "0"
    try:
        with replaced(ray_constants, ENABLE_RAY_CLUSTER=False):
            yield
    finally:
        del os.environ[_CLUSTERS]
        if before is not None:
            os.environ[_CLUSTERS] = before


@contextmanager
def needed_parts_only() -> Iterator[None]:
    """A cluster that is started within the block has no autoscaler, dashboard and reader of logs.

    Ray has no option for that. Each is a process that takes a second of a processor to start; Ray
    waits for the dashboard's before it goes on, and for all of them as it ends. The parts that
    there are get no signal that is sent to podium's process group, as by a terminal or `timeout`:
    podium stops what trains, and then ends them.
    """
    own_group = partial(services.ConsolePopen, process_group=0)
    with (
        replaced(Node, **dict.fromkeys(_NEEDLESS, lambda *_, **__: None)),
        replaced(services, ConsolePopen=own_group),
    ):
        yield


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
    """The Ray that this process starts, with logs in ``folder``: whether and why it ended.

    Make one before it starts.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._others = {child.pid for child in psutil.Process().children()}
        self._parts: dict[str, int] = {}

    def end(self) -> str | None:
        """Why it ended; None while the processes that it cannot be without live, or start."""
        for child in psutil.Process().children() if len(self._parts) < len(_NEEDED) else ():
            with suppress(psutil.NoSuchProcess):
                if child.pid not in self._others and child.name() in _NEEDED:
                    self._parts[child.name()] = child.pid
        ends = {name: _end_of(pid) for name, pid in self._parts.items()}
        return " and ".join(f"its {name} {end}" for name, end in ends.items() if end) or None

    def error(self, why: str) -> ClusterGoneError:
        """The error for people, with a cause that `end` gave, or another."""
        return ClusterGoneError(
            f"podium's own Ray ended: {why}. Finished trials are stored: run the same command"
            f" to continue. Ray's logs stay until the next run, in {self._folder}"
        )

    @contextmanager
    def watched_start(self) -> Iterator[None]:
        """While the block starts Ray, end this process if a part dies: Ray waits for it in vain.

        After a minute Ray would end the process itself, with a trace. The lock of the study is
        free then, since its owner is dead.
        """
        is_over = threading.Event()

        def watch() -> None:
            while not is_over.wait(_PAUSE_SECONDS):
                end = self.end()
                if end is not None and not is_over.wait(_PAUSE_SECONDS):
                    error = self.error(end)
                    print(f"podium: {error}", file=sys.stderr, flush=True)
                    os._exit(error.exit_code)

        threading.Thread(target=watch, name="ray-start-watch", daemon=True).start()
        try:
            yield
        finally:
            is_over.set()


def _end_of(pid: int) -> str | None:
    """How a child ended; None while it lives. It stays for Ray to be waited for."""
    try:
        found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # Ray has waited for it
        return "ended"
    if found is None:
        return None
    if found.si_code == os.CLD_EXITED:
        return f"ended with exit code {found.si_status}"
    hint = (
        ", as happens when the machine runs out of memory"
        if found.si_status == signal.SIGKILL
        else ""
    )
    return f"was ended by {signal.Signals(found.si_status).name}{hint}"
