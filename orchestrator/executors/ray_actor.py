"""What runs in Ray's worker processes: an actor that takes one trial after the other."""

import gc
import sys
from typing import Any

# isort: off
import orchestrator.executors.ray_environment  # noqa: F401 - Ray reads it when it is imported
import ray

# isort: on
from ray import tune

from orchestrator.executors.ray_actor_reuse import Wear
from orchestrator.trials.trial_spec import TrialJob
from orchestrator.worker.process_memory import own_bytes
from orchestrator.worker.worker import TrialFunction, TrialWorker

__all__ = ["actor_class", "job_of", "resources_of"]


def actor_class(trial: TrialFunction) -> type[tune.Trainable]:
    """A thin, reusable actor around a `TrialWorker`; ``trial`` travels with the class."""

    class TrialActor(tune.Trainable):
        def setup(self, config: dict[str, Any]) -> None:
            self._wear = Wear()
            self._worker = TrialWorker(trial)
            self._worker.start(job_of(config))

        def reset_config(self, new_config: dict[str, Any]) -> bool:
            self._worker.stop()
            self._wear.trials += 1
            if self._wear.is_worn(_device_bytes(), own_bytes()):
                # To say False would end the trial; this way it is given to a new process.
                ray.actor.exit_actor()  # type: ignore[no-untyped-call]
            self._worker.start(job_of(new_config))
            return True

        def step(self) -> dict[str, Any]:
            messages = self._worker.step()
            self._wear.hear(messages)
            return {"messages": messages}

        def cleanup(self) -> None:
            self._worker.stop()

    return TrialActor


def resources_of(config: dict[str, Any]) -> tune.PlacementGroupFactory:
    """What Ray sets aside for a trial; Tune reuses an actor for trials of the same only."""
    demand = job_of(config).demand
    return tune.PlacementGroupFactory([{"CPU": demand.cpus, "GPU": demand.gpus}])


def job_of(config: dict[str, Any]) -> TrialJob:
    """The job in what Tune takes for the hyperparameters."""
    job = config["job"]
    assert isinstance(job, TrialJob)
    return job


def _device_bytes() -> int:
    """Of the GPU, between two trials; torch is not loaded for that."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return 0
    gc.collect()
    torch.cuda.empty_cache()
    return int(torch.cuda.memory_reserved())
