"""What a worker says to the director."""

from dataclasses import dataclass
from typing import Literal

from trainables.trial_reports import EpochReport, TestReport

__all__ = ["Ended", "Message"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The last word of a trial that ended by itself; pruned trials never say it.

    Attributes:
        cause: why it failed (see `orchestrator.trials.failure_causes`); None when COMPLETE.
        message: one line for tables; None when COMPLETE.
        log: tail of what the trial printed, warned and logged.
        recycle: whether its process must not run another trial: what went wrong may stay in it.
        peak_memory_mb: the most its process held, if its memory ran out.
        device_memory_mb: what the GPU has that it ran on, if it ended complete or out of memory.
    """

    state: Literal["COMPLETE", "FAILED"]
    cause: str | None
    message: str | None
    traceback: str | None
    log: str | None
    recycle: bool = False
    peak_memory_mb: float | None = None
    device_memory_mb: float | None = None


Message = EpochReport | TestReport | Ended
