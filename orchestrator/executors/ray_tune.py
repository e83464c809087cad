"""Runs trials on a Ray cluster through one Ray Tune run. The only file that imports Ray.

Tune's own persistence is not used: the results store is the truth, and Tune's is thrown away.
"""

import logging
import os
import shutil
from typing import Any, Self

# isort: off
import orchestrator.executors.ray_environment  # noqa: F401 - Ray reads it when it is imported
import ray

# isort: on
from ray import tune
from ray.tune.experiment import Trial
from ray.tune.schedulers import FIFOScheduler, TrialScheduler
from ray.tune.search import Searcher

from orchestrator.demand import Capacity
from orchestrator.executors.base import Director, Loss, NoJob
from orchestrator.executors.private_ray import (
    loopback_only,
    private_folder,
    use_private_token,
)
from orchestrator.executors.tune_signals import KeepSignalHandler
from orchestrator.orders import TrialJob
from orchestrator.results.errors import PodiumError, StoreError
from orchestrator.study import ResourceSettings
from orchestrator.worker import TrialFunction, TrialWorker, train

__all__ = ["RayTuneExecutor"]

_OBJECT_STORE_BYTES = 100 * 2**20
_MAX_PENDING = 10_000  # the director says how many there are


class RayTuneExecutor:
    """Starts or joins a Ray cluster; use as a context manager.

    Args:
        resources: what one trial occupies.
        address: of a cluster to join; None starts a private one on this machine.
        max_concurrent: upper bound on trials at a time.
        trial: what runs a trial; it travels to the workers.
    """

    def __init__(
        self,
        resources: ResourceSettings,
        address: str | None = None,
        max_concurrent: int | None = None,
        trial: TrialFunction = train,
    ) -> None:
        self._resources = resources
        self._address = address
        self._max_concurrent = max_concurrent
        self._trial = trial
        self._folder = private_folder()

    def __enter__(self) -> Self:
        """Start or join Ray."""
        common: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if self._address is None:
            use_private_token()
            with loopback_only():
                ray.init(
                    address="local",
                    include_dashboard=False,
                    object_store_memory=_OBJECT_STORE_BYTES,
                    _temp_dir=str(self._folder / "ray"),
                    **common,
                )
            self._check_fits()
        else:
            ray.init(address=self._address, **common)
        return self

    def _check_fits(self) -> None:
        """A machine does not grow: for what it lacks, Ray would wait for ever."""
        cluster, wanted = ray.cluster_resources(), self._resources
        for kind, asked in (("CPU", wanted.cpus_per_trial), ("GPU", wanted.gpus_per_trial)):
            there = cluster.get(kind, 0.0)
            if asked > there:
                self.__exit__()
                raise PodiumError(
                    f"resources.{kind.lower()}s_per_trial is {asked:g}, but Ray finds {there:g} "
                    f"{kind}s on this machine: ask for less, or join a cluster with --address"
                )

    def __exit__(self, *_: object) -> None:
        """Leave Ray; a private cluster ends."""
        ray.shutdown()
        shutil.rmtree(self._folder, ignore_errors=True)

    def capacity(self) -> Capacity:
        """What the cluster has as it is now."""
        cluster = ray.cluster_resources()
        return Capacity(
            cpus=cluster.get("CPU", 0.0),
            gpus=cluster.get("GPU", 0.0),
            max_trials=self._max_concurrent,
        )

    def run(self, director: Director) -> None:
        """Drive one Tune run until the director is finished or stopping."""
        os.environ["TUNE_MAX_PENDING_TRIALS_PG"] = str(_MAX_PENDING)
        # Lost workers are the director's business; Tune would print a traceback for each.
        logging.getLogger("ray.tune").setLevel(logging.CRITICAL)
        line = _Line(director)
        tune.run(
            tune.with_resources(_actor_class(self._trial), _resources_of),
            search_alg=_Searcher(line),
            scheduler=_Scheduler(line),
            stop=_Stopper(line),
            callbacks=[_DropMessages(), KeepSignalHandler()],
            num_samples=-1,
            reuse_actors=True,
            storage_path=str(self._folder),
            name="tune",
            checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=False),
            max_failures=0,
            raise_on_failed_trial=False,
            verbose=0,
            log_to_file=False,
        )
        if line.error is not None:
            raise line.error


class _Line:
    """Director and what went wrong while talking to it.

    Tune swallows exceptions of searchers and schedulers; here they are kept, and end the run.
    """

    def __init__(self, director: Director) -> None:
        self.director = director
        self.error: Exception | None = None
        self.trial_ids: dict[str, str] = {}  # Tune's trial id -> ours

    def __getstate__(self) -> dict[str, Any]:
        """Tune writes its stopper into a snapshot at the start and end; nobody restores it."""
        return {}

    @property
    def is_cut(self) -> bool:
        return self.error is not None or self.director.is_stopping

    def fail(self, error: Exception) -> None:
        self.error = self.error or error


class _Searcher(Searcher):
    def __init__(self, line: _Line) -> None:
        super().__init__(metric=None, mode=None)
        self._line = line

    def suggest(self, trial_id: str) -> Any:
        if self._line.is_cut:
            return str(Searcher.FINISHED)
        try:
            job = self._line.director.next_job()
        except Exception as error:  # Tune would swallow it
            self._line.fail(error)
            return str(Searcher.FINISHED)
        if isinstance(job, NoJob):
            return str(Searcher.FINISHED) if job is NoJob.FINISHED else None
        self._line.trial_ids[trial_id] = job.trial_id
        return {"job": job}

    def on_trial_complete(
        self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False
    ) -> None:
        ours = self._line.trial_ids.pop(trial_id, None)
        if ours is None or not error:
            return
        try:
            loss = Loss(cause="lost_worker", message="the worker process or its node died")
            self._line.director.lose(ours, loss)
        except Exception as failure:
            self._line.fail(failure)

    def save(self, checkpoint_path: str) -> None:
        """Nothing to save: the results store is the truth."""

    def restore(self, checkpoint_path: str) -> None:
        raise StoreError("a Tune experiment is never restored: run the study again instead")


class _Scheduler(FIFOScheduler):
    def __init__(self, line: _Line) -> None:
        super().__init__()
        self._line = line

    def on_trial_result(self, controller: Any, trial: Trial, result: dict[str, Any]) -> str:
        trial_id = self._line.trial_ids.get(trial.trial_id)
        if trial_id is None or self._line.is_cut:
            return str(TrialScheduler.STOP)
        try:
            goes_on = self._line.director.hear(trial_id, result["messages"])
        except Exception as error:  # Tune would swallow it
            self._line.fail(error)
            return str(TrialScheduler.STOP)
        return str(TrialScheduler.CONTINUE if goes_on else TrialScheduler.STOP)


class _Stopper(tune.Stopper):
    def __init__(self, line: _Line) -> None:
        self._line = line

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        return False

    def stop_all(self) -> bool:
        return self._line.is_cut


class _DropMessages(tune.Callback):
    """Tune keeps every trial's last result for ever: the messages have been heard by then."""

    def on_trial_result(
        self, iteration: int, trials: list[Trial], trial: Trial, result: dict[str, Any], **_: Any
    ) -> None:
        result.pop("messages", None)


def _actor_class(trial: TrialFunction) -> type[tune.Trainable]:
    """A thin, reusable actor around a `TrialWorker`; ``trial`` travels with the class."""

    class TrialActor(tune.Trainable):
        def setup(self, config: dict[str, Any]) -> None:
            self._worker = TrialWorker(trial)
            self._worker.start(_job_of(config))

        def reset_config(self, new_config: dict[str, Any]) -> bool:
            self._worker.start(_job_of(new_config))
            return True

        def step(self) -> dict[str, Any]:
            return {"messages": self._worker.step()}

        def cleanup(self) -> None:
            self._worker.stop()

    return TrialActor


def _resources_of(config: dict[str, Any]) -> tune.PlacementGroupFactory:
    demand = _job_of(config).demand
    return tune.PlacementGroupFactory([{"CPU": demand.cpus, "GPU": demand.gpus}])


def _job_of(config: dict[str, Any]) -> TrialJob:
    job = config["job"]
    assert isinstance(job, TrialJob)
    return job
