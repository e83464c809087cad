"""What runs in Ray's worker processes: an actor that takes one trial after the other, or several.

`ProcessWear` decides when its process is replaced by a new one.
"""

import gc
import random
import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import ray
from ray import tune

from podium.orchestrator.executors.job_groups import Group
from podium.orchestrator.results.storage.local_files import never_made_again
from podium.orchestrator.trials.worker_messages import Ended, Message
from podium.orchestrator.worker.process_memory import process_bytes
from podium.orchestrator.worker.slot_worker import Messages, SlotWorker
from podium.orchestrator.worker.worker import TrialFunction

# A new process costs seconds, which is as much as hundreds of tiny trials. Each has a limit of its
# own: processes that started together are not to be replaced together, while no trial runs.
_MAX_TRIALS = range(500, 1500)
_MAX_HELD_BYTES = 512 * 2**20
_MAX_GROWN_BYTES = 2**30


@dataclass(slots=True)
class ProcessWear:
    """What a worker process has run and holds, which decides when it is replaced.

    Attributes:
        trials: number of trials it ran, whatever became of them.
        is_suspect: whether a trial ended with a failure whose effects may stay in the process.
        max_trials: number of trials after which it is replaced.
        first_bytes: bytes of the machine's memory that it held when first checked.
    """

    trials: int = 0
    is_suspect: bool = False
    max_trials: int = field(default_factory=lambda: random.SystemRandom().choice(_MAX_TRIALS))
    first_bytes: int | None = None

    def receive(self, messages: Iterable[Message]) -> None:
        """Note the messages of a trial."""
        for message in messages:
            if isinstance(message, Ended) and message.recycle:
                self.is_suspect = True

    def is_worn(self, device_bytes: int, process_bytes: int) -> bool:
        """Whether the process should be replaced; called between two trials.

        By then no trial holds what is reserved of the GPU.
        """
        if self.first_bytes is None:
            self.first_bytes = process_bytes
        return (
            self.is_suspect
            or self.trials >= self.max_trials
            or device_bytes > _MAX_HELD_BYTES
            or process_bytes - self.first_bytes > _MAX_GROWN_BYTES
        )


class Told:
    """The messages of a step, by trial; Tune would take a dict apart, and write it all out."""

    def __init__(self, messages: Messages) -> None:
        self.messages = messages


def actor_class(trial: TrialFunction) -> type[tune.Trainable]:
    """A thin, reusable actor around a `SlotWorker`; ``trial`` travels with the class."""

    class TrialActor(tune.Trainable):
        def setup(self, config: dict[str, Any]) -> None:
            self._held = ExitStack()
            self._held.enter_context(never_made_again(_group_of(config)[0].paths.store))
            self._wear = ProcessWear()
            # What Tune makes of a message takes the driver milliseconds.
            self._worker = SlotWorker(trial, gathers=True)
            self._worker.start(_group_of(config))

        def reset_config(self, new_config: dict[str, Any]) -> bool:
            self._worker.stop()
            self._wear.trials += 1
            if self._wear.is_worn(_device_bytes(), process_bytes()):
                # To say False would end the trial; this way it is given to a new process.
                ray.actor.exit_actor()  # type: ignore[no-untyped-call]
            self._worker.start(_group_of(new_config))
            return True

        def step(self) -> dict[str, Any]:
            messages = self._worker.step()
            for of_trial in messages.values():
                self._wear.receive(of_trial)
            return {"told": Told(messages)}

        def drop(self, trial_ids: Sequence[str]) -> None:
            """End members of a population; the next step is without them."""
            for trial_id in trial_ids:
                self._worker.drop(trial_id)

        def cleanup(self) -> None:
            self._worker.stop()
            self._held.close()

    return TrialActor


def resources_of(config: dict[str, Any]) -> tune.PlacementGroupFactory:
    """What Ray reserves for a trial; Tune reuses an actor only for trials of equal resources."""
    demand = _group_of(config)[0].demand.whole
    return tune.PlacementGroupFactory([{"CPU": demand.cpus, "GPU": demand.gpus}])


def _group_of(config: dict[str, Any]) -> Group:
    """The jobs in the config that Tune passes to the actor."""
    group = config["jobs"]
    assert isinstance(group, tuple)
    return group


def _device_bytes() -> int:
    """Bytes of the GPU that are held between two trials; torch is not imported for that."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return 0
    gc.collect()
    torch.cuda.empty_cache()
    return int(torch.cuda.memory_reserved())
