"""Runs trials on a Ray cluster through one Ray Tune run.

Tune's own persistence is not used: the results store is the truth, and Tune's is deleted.
"""

import logging
import os
from typing import Self

from ray import tune
from ray.tune.execution import tune_controller

from podium.orchestrator.executors.ray_actor import actor_class, resources_of
from podium.orchestrator.executors.ray_cluster import RayCluster
from podium.orchestrator.executors.ray_cluster_watch import PATIENCE
from podium.orchestrator.executors.ray_environment import replaced
from podium.orchestrator.executors.ray_failures import recording_actor_manager
from podium.orchestrator.executors.ray_node_probe import check_all_nodes_see
from podium.orchestrator.executors.tune_bridge import ClusterGone, TuneBridge
from podium.orchestrator.executors.tune_callbacks import (
    BridgeCallback,
    BridgeScheduler,
    BridgeSearcher,
    BridgeStopper,
)
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.scheduling.executor_interface import Scheduler
from podium.orchestrator.study.resource_demand import Capacity, Demand
from podium.orchestrator.worker.worker import TrialFunction, train

_MAX_PENDING = 10_000  # no limit in effect: the scheduler decides how many run


class RayTuneExecutor:
    """Starts or joins a Ray cluster; use as a context manager.

    Args:
        most: largest number of CPUs and of GPUs that any trial of the study asks for.
        address: address of a cluster to join; None starts a private one on this machine.
        max_concurrent: trials at a time that the study starts with, if it bounds them.
        trial: function that runs a trial; it is pickled and sent to the workers.
        paths: results that every node of a joined cluster must see; None checks nothing.
        patience: unanswered questions, three seconds each, until the head counts as gone.
    """

    def __init__(
        self,
        most: Demand,
        address: str | None = None,
        max_concurrent: int | None = None,
        trial: TrialFunction = train,
        paths: StudyPaths | None = None,
        patience: int = PATIENCE,
    ) -> None:
        self._most = most
        self._trial = trial
        self._probed = None if address is None else paths
        self._cluster = RayCluster(address, max_concurrent, patience)

    def __enter__(self) -> Self:
        """Start or join Ray.

        Raises:
            PodiumError: this machine cannot run a single trial.
            StoreError: nodes of the joined cluster do not see the results.
        """
        self._cluster.start()
        try:
            self._cluster.check_fits(self._most)
            if self._probed is not None:
                check_all_nodes_see(self._probed)
        except BaseException:
            self._cluster.leave()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Leave Ray; a private cluster ends."""
        self._cluster.leave()

    def capacity(self) -> Capacity:
        """CPUs and GPUs of the cluster, as last seen by its watch."""
        return self._cluster.capacity(self._most)

    def run(self, scheduler: Scheduler) -> None:
        """Drive one Tune run until the scheduler is finished or stopping.

        Raises:
            ClusterGoneError: the cluster is gone, and running trials with it.
        """
        os.environ["TUNE_MAX_PENDING_TRIALS_PG"] = str(_MAX_PENDING)
        # Lost workers are handled by the scheduler; Tune would print a traceback for each.
        logging.getLogger("ray.tune").setLevel(logging.CRITICAL)
        bridge = TuneBridge(scheduler, self._cluster.watch, self.capacity)
        try:
            # Tune's manager of actors cannot be passed as an argument.
            manager = recording_actor_manager(bridge.note)
            with replaced(tune_controller, RayActorManager=manager):
                tune.run(
                    tune.with_resources(actor_class(self._trial), resources_of),
                    search_alg=BridgeSearcher(bridge),
                    scheduler=BridgeScheduler(bridge),
                    stop=BridgeStopper(bridge),
                    callbacks=[BridgeCallback(bridge)],
                    num_samples=-1,
                    reuse_actors=True,
                    storage_path=str(self._cluster.folder),
                    name="tune",
                    checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=False),
                    max_failures=0,
                    raise_on_failed_trial=False,
                    verbose=0,
                    log_to_file=False,
                )
        except ClusterGone as gone:
            self._cluster.abandon()
            raise gone.error from None
        if bridge.error is not None:
            raise bridge.error
