"""Watches a Ray cluster from a thread of its own, because calls to a dead head never return."""

import os
import socket
import sys
import threading
from contextlib import suppress
from typing import Any, Literal

from ray._raylet import GcsClient  # type: ignore[attr-defined]
from ray.core.generated.common_pb2 import NodeDeathInfo  # type: ignore[attr-defined]
from ray.core.generated.gcs_pb2 import GcsNodeInfo  # type: ignore[attr-defined]
from ray.exceptions import RpcError

from podium.orchestrator.executors.private_ray import OwnRay
from podium.orchestrator.scheduling.executor_interface import ClusterGoneError
from podium.orchestrator.study.resource_demand import Demand

NodeState = Literal["alive", "silent", "dead", "preempted", "unknown"]

PATIENCE = 14
"""Questions without an answer, three seconds each, until the head counts as gone.

Ray itself ends this process with a trace after 60 seconds; before that, the end is clean.
"""

_PAUSE_SECONDS = 1.0
_ANSWER_SECONDS = 2.0
_SECONDS_TO_LEAVE = 10.0


class ClusterWatch:
    """Knows the nodes that are alive, and whether there is still a cluster.

    The process belongs to its own node. It has a Ray of its own unless it has joined a cluster.

    Attributes:
        nodes: CPUs and GPUs of each living node.
        gone: the error to raise once the cluster is gone; None before.
        ends_here: whether this process ends the cluster now: a node may die then, not the head.
    """

    def __init__(
        self, address: str, own_node: str, own_ray: OwnRay | None, patience: int = PATIENCE
    ) -> None:
        self._address, self._own_node, self._own_ray = address, own_node, own_ray
        self._patience = patience
        self._client = GcsClient(address=address)
        self._stopped, self._left = threading.Event(), threading.Event()
        self.ends_here = False
        self._by_address: dict[str, Any] = {}  # the last node there
        self.nodes: tuple[Demand, ...] = ()
        self.gone: ClusterGoneError | None = None
        self._look()
        self._thread = threading.Thread(target=self._watch, name="cluster-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Watch no longer."""
        self._stopped.set()
        self._thread.join(timeout=2 * _ANSWER_SECONDS)

    def leave(self) -> None:
        """The main thread knows that the cluster is gone, and ends this process by itself."""
        self._left.set()

    def state_of(self, address: str) -> NodeState:
        """State of the node at an address; the head takes seconds to find that one is dead."""
        node = self._by_address.get(address)
        if node is None:
            return "unknown"
        if node.state == GcsNodeInfo.GcsNodeState.DEAD:
            preempted = node.death_info.reason == NodeDeathInfo.AUTOSCALER_DRAIN_PREEMPTED
            return "preempted" if preempted else "dead"
        with suppress(OSError), socket.create_connection((address, node.node_manager_port), 1.0):
            return "alive"
        return "silent"

    def _watch(self) -> None:
        unanswered = 0
        while self.gone is None and not self._stopped.wait(_PAUSE_SECONDS):
            try:
                self._look()
                unanswered = 0
            except RpcError:
                unanswered += 1
            end = None if self._own_ray is None else self._own_ray.end()
            if end is not None and not self.ends_here:
                self._is_gone("this machine's part", end)
            if unanswered >= self._patience:
                self._is_gone("the head", "its head does not answer")
        if self.gone is not None:
            self._end_process(self.gone)

    def _end_process(self, gone: ClusterGoneError) -> None:
        """Exit if the main thread does not: it may wait for an answer that never comes.

        The lock of the study is free then, since its owner is dead.
        """
        if not self._left.wait(_SECONDS_TO_LEAVE):
            print(f"podium: {gone}", file=sys.stderr, flush=True)
        else:
            self._stopped.wait(_SECONDS_TO_LEAVE)
        os._exit(gone.exit_code)

    def _look(self) -> None:
        alive = GcsNodeInfo.GcsNodeState.ALIVE
        found = self._client.get_all_node_info(timeout=_ANSWER_SECONDS)
        living = {key.hex(): node for key, node in found.items() if node.state == alive}
        if found and self._own_node not in living and not self.ends_here:
            self._is_gone("this machine's part", "it does not find its own processes alive")
        self._by_address = {
            node.node_manager_address: node
            for node in sorted(found.values(), key=lambda node: int(node.start_time_ms))
        }
        resources = [dict(node.resources_total) for node in living.values()]
        self.nodes = tuple(
            Demand(cpus=there.get("CPU", 0.0), gpus=there.get("GPU", 0.0)) for there in resources
        )

    def _is_gone(self, part: str, why: str) -> None:
        """End the run: that part of a joined cluster is gone, or its own one ended for that."""
        if self._own_ray is not None:
            self.gone = self.gone or self._own_ray.error(self._own_ray.end() or why)
            return
        self.gone = self.gone or ClusterGoneError(
            f"{part} of the Ray cluster at {self._address} is gone. Finished trials are stored:"
            " start the cluster again and run the same command."
        )
