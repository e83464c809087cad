"""What a run spends: seconds of CPUs and GPUs, by search, stage and what became of them.

Every attempt at a trial counts from the moment a worker has it until it ends, whatever it led to.
One that no worker ever had is no attempt.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from orchestrator.results.records.runs import RunSpent, Use
from orchestrator.study.resource_demand import Demand

_USES: Mapping[str, Use] = {"COMPLETE": "complete", "PRUNED": "pruned", "FAILED": "failed"}


def use_of(state: str) -> Use:
    """What became of an attempt that ended in a row of this state."""
    return _USES[state]


class SpentOn(NamedTuple):
    """What a sum is of: search id, stage and what became of the attempts."""

    search: str
    stage: str
    use: Use


@dataclass(slots=True)
class Spent:
    """Sums over attempts; fields are those of the stored `RunSpent`."""

    tries: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    gpu_seconds: float = 0.0
    whole_tries: int = 0
    whole_seconds: float = 0.0

    def add(self, other: "Spent | RunSpent") -> None:
        """Add the sums of other attempts."""
        self.tries += other.tries
        self.seconds += other.seconds
        self.cpu_seconds += other.cpu_seconds
        self.gpu_seconds += other.gpu_seconds
        self.whole_tries += other.whole_tries
        self.whole_seconds += other.whole_seconds


class RunningAttempt(NamedTuple):
    """An attempt that has not ended: search id, stage and seconds since it began."""

    search: str
    stage: str
    seconds: float


@dataclass(slots=True)
class _OpenAttempt:
    search: str
    stage: str
    demand: Demand
    is_first: bool
    handed_out: float
    begun: float | None = None


class Spending:
    """The account of one run.

    Args:
        clock: gives seconds of a monotonic clock.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open: dict[str, _OpenAttempt] = {}
        self._closed: dict[SpentOn, Spent] = {}

    def start(
        self, trial_id: str, search: str, stage: str, demand: Demand, *, is_first: bool
    ) -> None:
        """An attempt at a trial is handed out; waiting for a worker slot costs nothing.

        Args:
            trial_id: id of the trial.
            search: id of its search.
            stage: ``search``, ``final`` or ``baseline``.
            demand: CPUs and GPUs it occupies.
            is_first: whether it starts from scratch: there is no checkpoint of an attempt before.
        """
        self._open[trial_id] = _OpenAttempt(search, stage, demand, is_first, self._clock())

    def begin(self, trial_id: str) -> None:
        """A worker has it now; later calls change nothing."""
        found = self._open.get(trial_id)
        if found is not None and found.begun is None:
            found.begun = self._clock()

    def note_message(self, trial_id: str) -> None:
        """A message of it came; without an earlier `begin` it counts from its handing out."""
        found = self._open.get(trial_id)
        if found is not None and found.begun is None:
            found.begun = found.handed_out

    def end(self, trial_id: str, use: Use) -> None:
        """It is over; a second call does nothing."""
        closed = self._open.pop(trial_id, None)
        if closed is not None:
            self._add(self._closed, closed, use)

    def now(self) -> dict[SpentOn, Spent]:
        """The sums; what runs counts as unfinished. May be called from another thread."""
        sums = added(tuple(self._closed.items()))
        for running in tuple(self._open.values()):
            self._add(sums, running, "unfinished")
        return sums

    def running(self) -> list[RunningAttempt]:
        """Each attempt that has not ended."""
        return [
            RunningAttempt(running.search, running.stage, self._seconds(running))
            for running in tuple(self._open.values())
        ]

    def _seconds(self, one: _OpenAttempt) -> float:
        return 0.0 if one.begun is None else self._clock() - one.begun

    def _add(self, sums: dict[SpentOn, Spent], one: _OpenAttempt, use: Use) -> None:
        if one.begun is None:
            return
        seconds = self._seconds(one)
        is_whole = use == "complete" and one.is_first
        sums.setdefault(SpentOn(one.search, one.stage, use), Spent()).add(
            Spent(
                tries=1,
                seconds=seconds,
                cpu_seconds=seconds * one.demand.cpus,
                gpu_seconds=seconds * one.demand.gpus,
                whole_tries=int(is_whole),
                whole_seconds=seconds if is_whole else 0.0,
            )
        )


def added(*parts: Iterable[tuple[SpentOn, "Spent | RunSpent"]]) -> dict[SpentOn, Spent]:
    """The sums of several accounts."""
    sums: dict[SpentOn, Spent] = {}
    for part in parts:
        for key, spent in part:
            sums.setdefault(key, Spent()).add(spent)
    return sums
