"""The messages that a worker sends to the scheduler."""

from dataclasses import dataclass
from typing import Literal

from trainables.trial_reports import EpochReport, TestReport

__all__ = ["Ended", "Message"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The last message of a trial that ended by itself; pruned trials send none.

    Attributes:
        state: state in which it ended.
        cause: why it failed (see `orchestrator.trials.failure_causes`); None when COMPLETE.
        message: one line for tables; None when COMPLETE.
        traceback: traceback of the failure, with secrets removed.
        log: tail of what the trial printed, warned and logged.
        recycle: whether its process must not run another trial: what went wrong may stay in it.
        peak_memory_mb: largest memory that its process held, in MiB, if memory ran out.
        device_memory_mb: memory of its GPU in MiB, if it ended complete or out of memory.
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
