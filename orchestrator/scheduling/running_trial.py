"""A trial that was handed out, with everything that is known of it while it runs."""

import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from orchestrator.results.records.attempts import Attempt, read_attempt, write_attempt
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.scheduling.executor_interface import Loss
from orchestrator.study.resource_demand import Demand
from orchestrator.trials.trial_history import TrialHistory
from orchestrator.trials.trial_spec import TrialSpec
from orchestrator.trials.worker_messages import Ended

__all__ = ["LongestHistories", "RunningTrial", "end_attempt", "lost_word"]

_UNKNOWN = "unknown"
_OF_WAITING = ("lost_node", "preempted", "stuck")


@dataclass(slots=True, kw_only=True)
class RunningTrial:
    """One try at a trial. All times are of a clock that is never set.

    Attributes:
        is_alone: whether it asked for more than its like, to have a device or node to itself.
        serial: counts the tries that this run has handed out.
        earlier: the tries before it, in this run or another.
        handed_out: when the executor got it.
        begun: when a worker got it; None as long as it waits for one.
        heard: when it last said something, or began.
    """

    spec: TrialSpec
    history: TrialHistory
    demand: Demand
    is_alone: bool
    serial: int
    earlier: tuple[Attempt, ...]
    handed_out: float = field(default_factory=time.monotonic)
    begun: float | None = None
    heard: float | None = None

    @property
    def attempt(self) -> int:
        """Number of this try; the first is 1."""
        return len(self.earlier) + 1

    @property
    def furthest(self) -> int:
        """How many reports the best of the earlier tries came to."""
        return max((attempt.reports or 0 for attempt in self.earlier), default=0)

    @property
    def is_further(self) -> bool:
        """Whether it is past all earlier tries: what it says is no repetition."""
        return self.history.num_reports > self.furthest

    @property
    def is_undecided(self) -> bool:
        """Whether no earlier try is known to have gone on after what was said last."""
        return self.history.num_reports >= self.furthest

    def note_word(self) -> None:
        """It began, or said something, just now."""
        self.heard = time.monotonic()
        self.begun = self.heard if self.begun is None else self.begun

    def excuse(self, seconds: float) -> None:
        """So much of the time that has passed does not count."""
        now = time.monotonic()
        if self.begun is not None:
            self.begun = min(now, self.begun + seconds)
        if self.heard is not None:
            self.heard = min(now, self.heard + seconds)

    def seconds_of_attempt(self) -> float:
        """Since it began; 0 if it has not."""
        return 0.0 if self.begun is None else time.monotonic() - self.begun

    def seconds_of_trial(self) -> float:
        """The same with all earlier tries, as far as it is known how long they took."""
        return self.seconds_of_attempt() + sum(attempt.seconds or 0.0 for attempt in self.earlier)


class LongestHistories:
    """What trials had said before they were tried again, if their last try is not to repeat it."""

    def __init__(self) -> None:
        self._kept: dict[str, TrialHistory] = {}

    def keep(self, running: RunningTrial) -> None:
        """The try is over, the trial is not."""
        self._kept[running.spec.trial_id] = self.take(running)

    def take(self, running: RunningTrial) -> TrialHistory:
        """The longest of all tries in this run; it is kept no more."""
        kept = self._kept.pop(running.spec.trial_id, running.history)
        return max(running.history, kept, key=lambda history: history.num_reports)


def lost_word(loss: Loss) -> Ended:
    """What a trial would have said that was lost, had it been able to."""
    return Ended(state="FAILED", cause=loss.cause, message=loss.message, traceback=None, log=None)


def end_attempt(
    paths: StudyPaths, running: RunningTrial, ended: Ended
) -> tuple[Attempt, ...] | None:
    """All tries at the trial, and of this one how it ended: in its file too, if need be.

    A killed worker cannot say so itself. None if there was no try: no worker had the job when the
    place was lost that it waited for.
    """
    written = read_attempt(paths, running.spec.trial_id, running.attempt)
    if written is None and running.begun is None and ended.cause in _OF_WAITING:
        return None
    attempt = written or _of_no_worker(running)
    if attempt.cause != ended.cause:
        attempt = replace(
            attempt,
            ended_at=datetime.now(UTC),
            cause=ended.cause,
            message=ended.message,
            reports=running.history.num_reports,
            seconds=running.seconds_of_attempt(),
            cpus=running.demand.cpus,
            gpus=running.demand.gpus,
            peak_memory_mb=running.history.peak_memory_mb,
        )
        write_attempt(paths, attempt)
    return (*running.earlier, attempt)


def _of_no_worker(running: RunningTrial) -> Attempt:
    """A try whose worker died before it could write anything."""
    since = timedelta(seconds=time.monotonic() - running.handed_out)
    return Attempt(
        trial_id=running.spec.trial_id,
        number=running.attempt,
        node=_UNKNOWN,
        pid=0,
        device=_UNKNOWN,
        started_at=datetime.now(UTC) - since,
        ended_at=None,
        cause=None,
    )
