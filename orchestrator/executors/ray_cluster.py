"""The Ray cluster of a run: a private one on this machine, or one that it joins (`join`)."""

import atexit
import math
import os
import socket
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import ray
from ray._private import worker as ray_worker
from ray._private.services import canonicalize_bootstrap_address
from ray.exceptions import AuthenticationError, RayError

from podium.errors import PodiumError
from podium.orchestrator.executors.private_folders import (
    PrivateFolder,
    remove_folders_of_dead_runs,
)
from podium.orchestrator.executors.private_ray import (
    OwnRay,
    loopback_only,
    needed_parts_only,
    use_private_token,
)
from podium.orchestrator.executors.ray_cluster_watch import PATIENCE, ClusterWatch
from podium.orchestrator.executors.ray_messages import (
    drop_messages,
    keep_messages,
    kept_sigterm_handler,
)
from podium.orchestrator.study.resource_demand import Capacity, Demand

_OBJECT_STORE_BYTES = 100 * 2**20
_PATIENCE_SECONDS, _CONNECT_SECONDS, _PAUSE_SECONDS = 15.0, 5.0, 0.5
_TOKEN = (
    "Ray reads the token from ~/.ray/auth_token, the file in RAY_AUTH_TOKEN_PATH, or"
    " RAY_AUTH_TOKEN; RAY_AUTH_MODE=disabled joins a cluster that requires none"
    " (docs/how-to/clusters.md)"
)


class RayCluster:
    """Starts or joins a Ray cluster, knows its capacity, and leaves it; see `RayTuneExecutor`."""

    def __init__(
        self, address: str | None, max_concurrent: int | None, patience: int = PATIENCE
    ) -> None:
        self._address, self._max_concurrent, self._patience = address, max_concurrent, patience
        self._folder: PrivateFolder | None = None
        self._watch: ClusterWatch | None = None
        self._own_ray: OwnRay | None = None
        self._logs_are_wanted = False

    def start(self) -> None:
        """Start or join Ray; whatever goes wrong, nothing is left behind."""
        remove_folders_of_dead_runs()
        self._folder = PrivateFolder()
        keep_messages(self._folder.path / "messages.log")
        atexit.register(self._end_process)  # runs before what Ray registered
        try:
            with kept_sigterm_handler():
                self._start()
            context = ray.get_runtime_context()
            self._watch = ClusterWatch(
                context.gcs_address, context.get_node_id(), self._own_ray, self._patience
            )
        except BaseException:
            self.leave()
            raise

    def _start(self) -> None:
        common: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if self._address is not None:
            join(self._address, **common)
            return
        use_private_token()
        self._own_ray = OwnRay(self.folder)
        try:
            with loopback_only(), needed_parts_only(), self._own_ray.watched_start():
                ray.init(
                    address="local",
                    include_dashboard=False,
                    object_store_memory=_OBJECT_STORE_BYTES,
                    _temp_dir=str(self.folder / "ray"),
                    **common,
                )
        except Exception as error:  # of any kind: Ray has none of its own for this
            self._logs_are_wanted = True
            why = self._own_ray.end() or f"it did not start: {_first_line(error)}"
            raise self._own_ray.error(why) from error

    def leave(self) -> None:
        """Leave Ray; a private cluster ends. Where that ended by itself, its logs stay."""
        if self._watch is not None and self._watch.gone is not None:
            self._logs_are_wanted = self._own_ray is not None
            self.abandon()
        else:
            if self._watch is not None:
                self._watch.ends_here = True
            ray.shutdown()
            atexit.unregister(self._end_process)
            if self._watch is not None:
                self._watch.stop()
        drop_messages()
        if self._folder is not None and not self._logs_are_wanted:
            self._folder.remove()

    def abandon(self) -> None:
        """Leave a cluster that is gone without calling it: such calls never end.

        Tune would remove what it requested as it is garbage-collected, unless Ray is disconnected.
        """
        ray_worker.global_worker.set_mode(None)  # type: ignore[arg-type]
        node = ray_worker._global_node
        if node is not None:
            node.kill_all_processes(check_alive=False, allow_graceful=False)

    def _end_process(self) -> None:
        """Exit at once if the head is gone: what Ray does at exit would wait for it."""
        if self._watch is not None and self._watch.gone is not None:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(self._watch.gone.exit_code)

    @property
    def folder(self) -> Path:
        """A folder for this user alone, which lasts until the cluster is left."""
        assert self._folder is not None, "start comes first"
        return self._folder.path

    @property
    def watch(self) -> ClusterWatch:
        """The watch on the cluster, once it has started."""
        assert self._watch is not None, "start comes first"
        return self._watch

    def check_fits(self, most: Demand) -> None:
        """Refuse trials that a private cluster can never fit: Ray would wait for ever.

        Raises:
            PodiumError: no trial would ever run.
        """
        if self._address is not None:
            return
        there = self._present()
        for kind, requested, found in (
            ("CPU", most.cpus, there.cpus),
            ("GPU", most.gpus, there.gpus),
        ):
            if requested > found:
                raise PodiumError(
                    f"a trial needs more {kind}s than Ray finds on this machine: "
                    f"{requested:g} of {found:g}. Request fewer, or join a cluster with --address"
                )

    def capacity(self, spare: Demand) -> Capacity:
        """CPUs and GPUs there are, and in a cluster that may grow those to wait for.

        A cluster grows when something waits for a worker slot: one trial more than fit now, or as
        many as the scheduler bounds them to, if the study has a bound.
        """
        present = self._present()
        if self._address is None:
            return present
        if self._max_concurrent is not None:
            return replace(present, cpus=math.inf, gpus=math.inf)
        return replace(present, cpus=present.cpus + spare.cpus, gpus=present.gpus + spare.gpus)

    def _present(self) -> Capacity:
        nodes = self.watch.nodes
        return Capacity(
            cpus=sum(node.cpus for node in nodes),
            gpus=sum(node.gpus for node in nodes),
            nodes=nodes,
        )


def join(address: str, **options: Any) -> None:
    """Join the cluster at ``auto`` or ``HOST:PORT``, with options of `ray.init`.

    Raises:
        PodiumError: there is none, or it does not let us in.
    """
    head = _check_address(address)
    _wait_for(head)
    try:
        ray.init(address=head, **options)
    except AuthenticationError as error:
        raise PodiumError(
            f"the Ray cluster at {head} refuses this run: {_first_line(error)}. {_TOKEN}"
        ) from None
    except (RayError, RuntimeError, ConnectionError) as error:
        raise PodiumError(
            f"the Ray cluster at {head} cannot be joined: {_first_line(error)}. It may require"
            f" a different token, or run a different version of Ray or Python. {_TOKEN}"
        ) from None


def _check_address(address: str) -> str:
    """The head that an address names, as ``HOST:PORT``.

    Raises:
        PodiumError: it is no address, or there is no cluster on this machine.
    """
    rule = "--address must be auto, or HOST:PORT of the head of a Ray cluster"
    if address == "local" or "://" in address:
        raise PodiumError(f"{rule}; got {address}")
    try:
        head = canonicalize_bootstrap_address(address)
    except ConnectionError:
        raise PodiumError(
            "--address auto finds no Ray cluster on this machine. Start one"
            " (docs/how-to/clusters.md), name its head as HOST:PORT, or omit --address"
        ) from None
    except (OSError, ValueError):
        head = None
    if head is None or not head.rpartition(":")[2].isdigit():
        raise PodiumError(f"{rule}; got {address}")
    return head


def _wait_for(head: str) -> None:
    host, _, port = head.rpartition(":")
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()
        except (OSError, OverflowError) as error:
            if time.monotonic() > deadline or isinstance(error, socket.gaierror | OverflowError):
                raise PodiumError(f"no Ray cluster answers at {head}: {error}") from None
        else:
            return
        time.sleep(_PAUSE_SECONDS)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0].partition(". ")[0].rstrip(".")
