"""When a process that ran trials must not run another one."""

import random
from collections.abc import Iterable
from dataclasses import dataclass, field

from orchestrator.messages import Ended, Message

__all__ = ["Wear"]

# What libraries leak in one trial is little, and a new process costs seconds. Each has a limit of
# its own: processes that started together are not to be replaced together, while no trial runs.
_MAX_TRIALS = range(100, 300)
_MAX_HELD_BYTES = 512 * 2**20


@dataclass(slots=True)
class Wear:
    """What a process has been through.

    Attributes:
        trials: how many it ran, whatever became of them.
        is_suspect: whether something went wrong that may stay: a trial's last word was that it
            must go.
        max_trials: how many it may run.
    """

    trials: int = 0
    is_suspect: bool = False
    max_trials: int = field(default_factory=lambda: random.SystemRandom().choice(_MAX_TRIALS))

    def hear(self, messages: Iterable[Message]) -> None:
        """Note what a trial said."""
        for message in messages:
            if isinstance(message, Ended) and message.recycle:
                self.is_suspect = True

    def is_worn(self, held_bytes: int) -> bool:
        """Whether a new process is better.

        Args:
            held_bytes: of a device, that no trial holds and that did not come back.
        """
        return self.is_suspect or self.trials >= self.max_trials or held_bytes > _MAX_HELD_BYTES
