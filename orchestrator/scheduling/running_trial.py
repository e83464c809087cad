"""A trial that was handed out, with everything that is known of it while it runs."""

import time
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from podium.orchestrator.results.records.journal_records import Attempt
from podium.orchestrator.study.resource_demand import Demand
from podium.orchestrator.trials.history import TrialHistory
from podium.orchestrator.trials.specification import TrialSpec
from podium.orchestrator.trials.worker_messages import Ended

_UNKNOWN = "unknown"
_OF_WAITING = ("lost_node", "preempted", "stuck")


Earlier = tuple[int, tuple[Attempt, ...]]
"""Number of all attempts at a trial without a row, and those since it started from scratch.

What led to a failure after which the trial was retried does not count.
"""


@dataclass(slots=True, kw_only=True)
class RunningTrial:
    """One attempt at a trial. All times are seconds of a monotonic clock.

    Attributes:
        history: reports of this attempt.
        is_alone: whether it asked for more than usual, to have a device or node to itself.
        serial: number of this attempt among those that this run has handed out, from 1.
        attempt: number of this attempt among all at the trial, from 1.
        earlier: attempts before it that count.
        handed_out: when the executor got it.
        begun: when a worker got it; None as long as it waits for one.
        members: number of trials that the worker got with it, itself included.
        heard: when its last message came, or when it began.
        told: the attempt as its worker told; None if it did not yet.
        has_saved: whether its worker told that it may have left a checkpoint.
    """

    spec: TrialSpec
    history: TrialHistory
    demand: Demand
    is_alone: bool
    serial: int
    attempt: int
    earlier: tuple[Attempt, ...]
    handed_out: float = field(default_factory=time.monotonic)
    begun: float | None = None
    members: int = 1
    heard: float | None = None
    told: Attempt | None = None
    has_saved: bool = False

    @property
    def most_reports(self) -> int:
        """Number of reports of the earlier attempt that got furthest; 0 without one."""
        return max((attempt.reports or 0 for attempt in self.earlier), default=0)

    @property
    def is_past_earlier_attempts(self) -> bool:
        """Whether it got further than all earlier attempts: what it reports is no repetition."""
        return self.history.num_reports > self.most_reports

    @property
    def may_be_pruned(self) -> bool:
        """Whether no earlier attempt is known to have continued past its last report."""
        return self.history.num_reports >= self.most_reports

    def note_message(self) -> None:
        """It began, or a message of it came, just now."""
        self.heard = time.monotonic()
        self.begun = self.heard if self.begun is None else self.begun

    def record(self) -> Attempt:
        """The attempt as far as it is known, without its end."""
        if self.told is not None:
            return self.told
        since = timedelta(seconds=time.monotonic() - (self.begun or self.handed_out))
        return Attempt(
            trial_id=self.spec.trial_id,
            search=self.spec.search.id,
            number=self.attempt,
            node=_UNKNOWN,
            pid=0,
            device=_UNKNOWN,
            started_at=datetime.now(UTC) - since,
            cpus=self.demand.cpus,
            gpus=self.demand.gpus,
            members=self.members,
        )

    def ended_record(self, cause: str, message: str | None = None) -> Attempt:
        """The attempt with an end that its worker did not tell."""
        return replace(
            self.record(),
            ended_at=datetime.now(UTC),
            cause=cause,
            message=message,
            reports=self.history.num_reports,
            seconds=self.seconds_of_attempt(),
            peak_memory_mb=self.history.peak_memory_mb,
        )

    def discount(self, seconds: float) -> None:
        """Leave seconds that passed out of its times, as while the driver was stopped."""
        now = time.monotonic()
        if self.begun is not None:
            self.begun = min(now, self.begun + seconds)
        if self.heard is not None:
            self.heard = min(now, self.heard + seconds)

    def seconds_of_attempt(self) -> float:
        """Seconds since it began; 0 if it has not."""
        return 0.0 if self.begun is None else time.monotonic() - self.begun

    def seconds_of_trial(self) -> float:
        """Seconds of this and all earlier attempts; one of unknown length counts 0.

        A population's are its members' in equal parts.
        """
        earlier = sum((it.seconds or 0.0) / it.members for it in self.earlier)
        return self.seconds_of_attempt() * self.demand.share + earlier


class RunningTrials:
    """The attempts that were handed out and have not ended.

    Attributes:
        occupied: how many of them occupy what, by their demand.
    """

    def __init__(self) -> None:
        self._by_id: dict[str, RunningTrial] = {}
        self._histories: dict[str, TrialHistory] = {}  # of retried trials, the longest
        self._last_alone: RunningTrial | None = None
        self.occupied: Counter[Demand] = Counter()

    def __len__(self) -> int:
        return len(self._by_id)

    def get(self, trial_id: str) -> RunningTrial | None:
        """The attempt at a trial; None if there is none now."""
        return self._by_id.get(trial_id)

    def all(self) -> tuple[RunningTrial, ...]:
        """All of them, as handed out; may be called from another thread."""
        return tuple(self._by_id.values())

    def add(self, running: RunningTrial) -> None:
        """It was handed out."""
        self._by_id[running.spec.trial_id] = running
        self.occupied[running.demand] += 1
        if running.is_alone:
            self._last_alone = running

    def remove(self, running: RunningTrial) -> None:
        """It has ended."""
        del self._by_id[running.spec.trial_id]
        self.occupied[running.demand] -= 1
        if not self.occupied[running.demand]:
            del self.occupied[running.demand]
        if running is self._last_alone:
            self._last_alone = None

    def retry(self, running: RunningTrial) -> None:
        """It has ended while its trial has not; the last attempt at that may get less far."""
        self._histories[running.spec.trial_id] = self.longest_history(running)
        self.remove(running)

    def longest_history(self, running: RunningTrial) -> TrialHistory:
        """The longest history of all attempts at its trial in this run, kept no longer."""
        kept = self._histories.pop(running.spec.trial_id, running.history)
        return max(running.history, kept, key=lambda history: history.num_reports)

    @property
    def wait_for_one_alone(self) -> bool:
        """Whether one that is to be alone has no worker yet; no other is handed out until then."""
        return self._last_alone is not None and self._last_alone.begun is None


def ended_attempt(running: RunningTrial, ended: Ended) -> Attempt | None:
    """The attempt with its end, as its worker told it if it could.

    None if there was no attempt: no worker had the job when the node was lost that it waited for.
    """
    if ended.attempt is not None:
        return ended.attempt
    if running.begun is None and ended.cause in _OF_WAITING:
        return None
    return running.ended_record(ended.cause or "stopped", ended.message)
