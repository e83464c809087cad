"""A Ray cluster of several nodes on this machine: a head without CPUs, and nodes with fake GPUs.

Everything of it runs below one process, the host, so that any part, the head too, can be killed
while the test lives on. Nodes have loopback addresses of their own (a driver joins by the head's),
a token is asked for, and nothing is left when the host's standard input closes, as it does when
the test process dies.
"""

import ctypes
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import psutil

ROOT = Path(__file__).parents[2]
_PR_SET_CHILD_SUBREAPER = 36
_HEAD = 0

# A silent node is given up after about 4 seconds instead of more than a minute.
FAST_HEALTH_CHECKS = {
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_timeout_ms": "1000",
    "RAY_health_check_failure_threshold": "3",
}


def strike(pid: int, number: signal.Signals) -> bool:
    """Send a signal; False if nobody is there any more."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


class RayCluster:
    """Use as a context manager; drivers are processes with `environment`.

    Args:
        nodes: how many besides the head.
        cpus: of each of them; the head has none.
        gpus: of each of them, fake.
    """

    def __init__(self, nodes: int = 2, cpus: int = 2, gpus: int = 0) -> None:
        self._num_nodes, self._cpus, self._gpus = nodes, cpus, gpus
        self._raylets: dict[int, int] = {}  # number of the node -> pid; the head's is 0

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="podium-", dir="/tmp"))  # short: sockets
        token = self._folder / "token"
        token.touch(mode=0o600)
        token.write_text(secrets.token_hex(32))
        self.environment: Mapping[str, str] = {
            **os.environ,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(token),
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # stays on loopback
            "RAY_TMPDIR": str(self._folder),
            "RAY_USAGE_STATS_ENABLED": "0",
            "PYTHONPATH": str(ROOT),  # where workers find the simulated training
        }
        self._host = subprocess.Popen(
            [sys.executable, "-m", "tests.orchestrator.ray_cluster", str(self._folder)],
            cwd=ROOT,
            env={**self.environment, **FAST_HEALTH_CHECKS},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            self.address = str(self._ask("head")["address"])
            for _ in range(self._num_nodes):
                self.add_node()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """End every process of the cluster, stopped ones too."""
        assert self._host.stdin is not None
        with suppress(BrokenPipeError):
            self._host.stdin.close()
        self._host.wait(timeout=30)
        assert self._host.stdout is not None
        self._host.stdout.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def add_node(self, cpus: int | None = None, gpus: int | None = None) -> int:
        """One more node; returns its number, 1 for the first."""
        cpus, gpus = self._cpus if cpus is None else cpus, self._gpus if gpus is None else gpus
        return int(self._ask("node", cpus=cpus, gpus=gpus)["number"])

    @property
    def nodes(self) -> tuple[int, ...]:
        """Numbers of the nodes besides the head whose raylets live, stopped ones too."""
        return tuple(
            number for number, pid in self._raylets.items() if number != _HEAD and _lives(pid)
        )

    @property
    def gcs_server(self) -> int:
        """The process that makes the head the head."""
        living = (it for it in psutil.Process(self._host.pid).children() if _lives(it.pid))
        (pid,) = (part.pid for part in living if part.name() == "gcs_server")
        return pid

    def raylet(self, node: int = _HEAD) -> int:
        """The process of a node that starts its workers."""
        return self._raylets[node]

    def workers(self, node: int | None = None) -> tuple[int, ...]:
        """Processes that run trials or wait for one: of a node, or of all living ones."""
        numbers = self.nodes if node is None else (node,)
        found = []
        for number in numbers:
            with suppress(psutil.NoSuchProcess):
                children = psutil.Process(self._raylets[number]).children()
                found += [child.pid for child in children if _is_worker(child)]
        return tuple(found)

    def node_of(self, worker: int) -> int:
        """The node that a worker is on."""
        parent = psutil.Process(worker).ppid()
        return next(number for number, pid in self._raylets.items() if pid == parent)

    def kill_node(self, node: int) -> None:
        """As when a machine loses power: the raylet and all below it at once."""
        pid = self._raylets[node]
        below = psutil.Process(pid).children(recursive=True)
        for process in (pid, *(child.pid for child in below)):
            strike(process, signal.SIGKILL)

    def kill_head(self) -> None:
        """As when the head's machine loses power."""
        strike(self.gcs_server, signal.SIGKILL)
        self.kill_node(_HEAD)

    def _ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        assert self._host.stdin is not None
        assert self._host.stdout is not None
        self._host.stdin.write(json.dumps({"command": command, **arguments}) + "\n")
        self._host.stdin.flush()
        line = self._host.stdout.readline()
        assert line, "the host of the cluster died; see its standard error"
        answer: dict[str, Any] = json.loads(line)
        self._raylets[answer["number"]] = answer["raylet"]
        return answer


def _lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _is_worker(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        title = " ".join(process.cmdline())
        return "ray::" in title and "Agent" not in title
    return False


def _serve(folder: Path) -> None:
    """The host: obeys until its standard input closes, then ends everything below it."""
    # Orphans come to this process, so that none is missed.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what Ray prints is no answer
    try:
        _obey(folder, answers)
    finally:
        _end_everything()


def _obey(folder: Path, answers: Any) -> None:
    from ray._private.node import Node
    from ray.cluster_utils import Cluster

    Node.start_api_server = lambda *_, **__: None  # takes a second of a processor for nobody
    cluster = Cluster(shutdown_at_exit=False)
    for number, line in enumerate(sys.stdin):
        asked = json.loads(line)
        resources = {"num_cpus": 0, "num_gpus": 0}
        if asked["command"] == "head":
            resources |= {"include_dashboard": False, "include_log_monitor": False}
        else:
            resources = {"num_cpus": asked["cpus"], "num_gpus": asked["gpus"]}
        before = _raylets()
        cluster.add_node(
            node_ip_address=f"127.0.0.{number + 1}",
            temp_dir=str(folder / "ray"),
            object_store_memory=80 * 2**20,
            **resources,
        )
        (raylet,) = _raylets() - before
        answer = {"number": number, "raylet": raylet, "address": cluster.address}
        print(json.dumps(answer), file=answers, flush=True)


def _raylets() -> set[int]:
    return {
        child.pid
        for child in psutil.Process().children()
        if child.name() == "raylet" and child.status() != psutil.STATUS_ZOMBIE
    }


def _end_everything() -> None:
    deadline = time.monotonic() + 20
    while children := psutil.Process().children(recursive=True):
        for child in children:
            strike(child.pid, signal.SIGKILL)
        psutil.wait_procs(children, timeout=1)
        assert time.monotonic() < deadline, children


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
