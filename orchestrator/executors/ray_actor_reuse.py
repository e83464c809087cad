"""When a process that ran trials must not run another one."""

import random
from collections.abc import Iterable
from dataclasses import dataclass, field

from orchestrator.trials.worker_messages import Ended, Message

__all__ = ["Wear"]

# A new process costs seconds, which is as much as hundreds of tiny trials. Each has a limit of its
# own: processes that started together are not to be replaced together, while no trial runs.
_MAX_TRIALS = range(500, 1500)
_MAX_HELD_BYTES = 512 * 2**20
_MAX_GROWN_BYTES = 2**30


@dataclass(slots=True)
class Wear:
    """What a process has been through.

    Attributes:
        trials: how many it ran, whatever became of them.
        is_suspect: whether something went wrong that may stay: a trial's last word was that it
            must go.
        max_trials: how many it may run.
        first_bytes: what it held of the machine's memory when it was first asked.
    """

    trials: int = 0
    is_suspect: bool = False
    max_trials: int = field(default_factory=lambda: random.SystemRandom().choice(_MAX_TRIALS))
    first_bytes: int | None = None

    def hear(self, messages: Iterable[Message]) -> None:
        """Note what a trial said."""
        for message in messages:
            if isinstance(message, Ended) and message.recycle:
                self.is_suspect = True

    def is_worn(self, device_bytes: int, process_bytes: int) -> bool:
        """Whether a new process is better; asked between two trials.

        Args:
            device_bytes: of a device, that no trial holds and that did not come back.
            process_bytes: of the machine's memory, that this process alone holds.
        """
        if self.first_bytes is None:
            self.first_bytes = process_bytes
        return (
            self.is_suspect
            or self.trials >= self.max_trials
            or device_bytes > _MAX_HELD_BYTES
            or process_bytes - self.first_bytes > _MAX_GROWN_BYTES
        )
