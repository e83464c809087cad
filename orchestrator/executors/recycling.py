"""When a process that ran trials must not run another one."""

from collections.abc import Iterable
from dataclasses import dataclass

from orchestrator.failures import OUT_OF_MEMORY
from orchestrator.messages import Ended, Message

__all__ = ["Wear"]

_MAX_TRIALS = 200  # what libraries leak in one trial is little, and a new process costs seconds
_MAX_HELD_BYTES = 512 * 2**20


@dataclass(slots=True)
class Wear:
    """What a process has been through.

    Attributes:
        trials: how many it ran, whatever became of them.
        is_suspect: whether something went wrong that may stay: its memory ran out, or its last
            word was that it must go.
    """

    trials: int = 0
    is_suspect: bool = False

    def hear(self, messages: Iterable[Message]) -> None:
        """Note what a trial said."""
        for message in messages:
            if isinstance(message, Ended) and (message.recycle or message.cause == OUT_OF_MEMORY):
                self.is_suspect = True

    def is_worn(self, held_bytes: int) -> bool:
        """Whether a new process is better.

        Args:
            held_bytes: of a device, that no trial holds and that did not come back.
        """
        return self.is_suspect or self.trials >= _MAX_TRIALS or held_bytes > _MAX_HELD_BYTES
