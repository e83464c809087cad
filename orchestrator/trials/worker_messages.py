"""The messages that a worker sends to the scheduler."""

from dataclasses import dataclass

from podium.orchestrator.results.records.journal_records import Attempt
from podium.orchestrator.search_samplers.suggester import TrialState
from podium.trainables.trial_reports import EpochReport, TestReport


@dataclass(frozen=True, slots=True)
class Saved:
    """An attempt may have left a checkpoint; sent before the report that it was saved with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a trial ended: its last message, or what the scheduler makes of a loss or a pruning.

    Attributes:
        cause: why it failed (see `orchestrator.trials.failure_causes`); None if it did not.
        message: one line for tables; None if it did not fail.
        traceback: traceback of the failure, with secrets removed.
        log: tail of what the trial printed, warned and logged.
        rung: number of the rung at which it was pruned.
        recycle: whether its process must not run another trial: what went wrong may stay in it.
        peak_memory_mb: largest memory that its process held, in MiB, if memory ran out.
        device_memory_mb: memory of its GPU in MiB, if it ended complete or out of memory.
        attempt: its attempt as the worker writes it into the store; None if it is not known.
        has_saved: whether the attempt may have left a checkpoint; True if it is not known.
    """

    state: TrialState
    cause: str | None = None
    message: str | None = None
    traceback: str | None = None
    log: str | None = None
    rung: int | None = None
    recycle: bool = False
    peak_memory_mb: float | None = None
    device_memory_mb: float | None = None
    attempt: Attempt | None = None
    has_saved: bool = True


# An attempt, as its worker knows it, is sent before its first report: it has begun. It is sent
# again if its population is parted.
Message = Attempt | Saved | EpochReport | TestReport | Ended
