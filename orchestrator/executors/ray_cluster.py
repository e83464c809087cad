"""The Ray cluster of a run: one of its own on this machine, or one that it joins."""

import atexit
import math
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

# isort: off
import orchestrator.executors.ray_environment  # noqa: F401 - Ray reads it when it is imported
import ray

# isort: on
from ray._private import worker as ray_worker

from orchestrator.executors.join_ray_cluster import join
from orchestrator.executors.private_ray import (
    loopback_only,
    private_folder,
    use_private_token,
)
from orchestrator.executors.ray_cluster_watch import PATIENCE, ClusterWatch
from orchestrator.results.errors import PodiumError
from orchestrator.study.resource_demand import Capacity, Demand

__all__ = ["RayCluster"]

_OBJECT_STORE_BYTES = 100 * 2**20


class RayCluster:
    """Start, look at and leave it.

    Args:
        address: of a cluster to join; None starts a private one on this machine.
        max_concurrent: upper bound on trials at a time.
        patience: see `orchestrator.executors.ray_cluster_watch`.
    """

    def __init__(
        self, address: str | None, max_concurrent: int | None, patience: int = PATIENCE
    ) -> None:
        self._address, self._max_concurrent, self._patience = address, max_concurrent, patience
        self._folder: Path | None = None
        self._watch: ClusterWatch | None = None

    def start(self) -> None:
        """Start or join Ray; whatever goes wrong, nothing is left behind."""
        self._folder = private_folder()
        atexit.register(self._end_process)  # runs before what Ray registered
        try:
            self._start()
            context = ray.get_runtime_context()
            self._watch = ClusterWatch(context.gcs_address, context.get_node_id(), self._patience)
        except BaseException:
            self.leave()
            raise

    def _start(self) -> None:
        common: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if self._address is not None:
            join(self._address, **common)
            return
        use_private_token()
        with loopback_only():
            ray.init(
                address="local",
                include_dashboard=False,
                object_store_memory=_OBJECT_STORE_BYTES,
                _temp_dir=str(self.folder / "ray"),
                **common,
            )

    def leave(self) -> None:
        """Leave Ray; a private cluster ends."""
        if self._watch is not None and self._watch.gone is not None:
            self.abandon()
        else:
            if self._watch is not None:
                self._watch.expect_end()
            ray.shutdown()
            atexit.unregister(self._end_process)
            if self._watch is not None:
                self._watch.stop()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def abandon(self) -> None:
        """Leave a cluster that is gone without a word: it would not answer, and calls never end.

        Tune removes what it asked for when it is forgotten, unless Ray is not connected.
        """
        ray_worker.global_worker.set_mode(None)  # type: ignore[arg-type]
        node = ray_worker._global_node
        if node is not None:
            node.kill_all_processes(check_alive=False, allow_graceful=False)

    def _end_process(self) -> None:
        """At its end: what Ray does then waits for a head that is gone."""
        if self._watch is not None and self._watch.gone is not None:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(self._watch.gone.exit_code)

    @property
    def folder(self) -> Path:
        """For this user alone, and for as long as the cluster is started or joined."""
        assert self._folder is not None, "start comes first"
        return self._folder

    @property
    def watch(self) -> ClusterWatch:
        """The eye on the cluster, once it has started."""
        assert self._watch is not None, "start comes first"
        return self._watch

    def check_fits(self, most: Demand) -> None:
        """A private cluster does not grow: for what it lacks, Ray would wait for ever.

        Args:
            most: that any trial asks for.

        Raises:
            PodiumError: no trial would ever run.
        """
        if self._address is not None:
            return
        there = self._present()
        for kind, asked, found in (
            ("CPU", most.cpus, there.cpus),
            ("GPU", most.gpus, there.gpus),
        ):
            if asked > found:
                raise PodiumError(
                    f"a trial asks for more {kind}s than Ray finds on this machine: {asked:g} of "
                    f"{found:g}. Ask for less, or join a cluster with --address"
                )

    def capacity(self, spare: Demand) -> Capacity:
        """What there is, and in a cluster that may grow what is worth waiting for.

        A cluster grows when something waits for a place: one trial more than fit now, or with
        ``max_concurrent`` so many in any case.

        Args:
            spare: what that one trial asks for.
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
            max_trials=self._max_concurrent,
            nodes=nodes,
        )
