"""What a run spends: seconds of CPUs and GPUs, by search, stage and what became of them.

Every try at a trial counts from the moment a worker has it until it ends, whatever it led to. One
that no worker ever had is no try.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from orchestrator.results.records.runs import RunSpent, Use
from orchestrator.study.resource_demand import Demand

__all__ = ["RunningAttempt", "Spending", "Spent", "SpentOn", "added", "use_of"]

_USES: Mapping[str, Use] = {"COMPLETE": "complete", "PRUNED": "pruned", "FAILED": "failed"}


def use_of(state: str) -> Use:
    """What became of a try that ended in a row of this state."""
    return _USES[state]


class SpentOn(NamedTuple):
    """What a sum is of."""

    search: str
    stage: str
    use: Use


@dataclass(slots=True)
class Spent:
    """Sums over tries; their meaning is that of `RunSpent`."""

    tries: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    gpu_seconds: float = 0.0
    whole_tries: int = 0
    whole_seconds: float = 0.0

    def add(self, other: "Spent | RunSpent") -> None:
        """Add what others took."""
        self.tries += other.tries
        self.seconds += other.seconds
        self.cpu_seconds += other.cpu_seconds
        self.gpu_seconds += other.gpu_seconds
        self.whole_tries += other.whole_tries
        self.whole_seconds += other.whole_seconds


class RunningAttempt(NamedTuple):
    """A try that has not ended, and the seconds it has taken."""

    search: str
    stage: str
    seconds: float


@dataclass(slots=True)
class _Try:
    search: str
    stage: str
    demand: Demand
    is_first: bool
    handed_out: float
    begun: float | None = None


class Spending:
    """The account of one run.

    Args:
        clock: seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._tries: dict[str, _Try] = {}
        self._closed: dict[SpentOn, Spent] = {}

    def start(
        self, trial_id: str, search: str, stage: str, demand: Demand, *, is_first: bool
    ) -> None:
        """A try at a trial is handed out; it may wait for its place, which costs nothing.

        Args:
            trial_id: which trial.
            search: it belongs to.
            stage: of the study.
            demand: what it occupies.
            is_first: whether no try was made before, so that there is no checkpoint.
        """
        self._tries[trial_id] = _Try(search, stage, demand, is_first, self._clock())

    def begin(self, trial_id: str) -> None:
        """A worker has it now."""
        found = self._tries.get(trial_id)
        if found is not None and found.begun is None:
            found.begun = self._clock()

    def hear(self, trial_id: str) -> None:
        """It said something; where nobody told that it began, it counts from its handing out."""
        found = self._tries.get(trial_id)
        if found is not None and found.begun is None:
            found.begun = found.handed_out

    def end(self, trial_id: str, use: Use) -> None:
        """It is over; nothing happens if it was over already."""
        closed = self._tries.pop(trial_id, None)
        if closed is not None:
            self._add(self._closed, closed, use)

    def now(self) -> dict[SpentOn, Spent]:
        """The sums; what runs counts as unfinished. May be asked from another thread."""
        sums = added(tuple(self._closed.items()))
        for running in tuple(self._tries.values()):
            self._add(sums, running, "unfinished")
        return sums

    def running(self) -> list[RunningAttempt]:
        """Each try that has not ended."""
        return [
            RunningAttempt(running.search, running.stage, self._seconds(running))
            for running in tuple(self._tries.values())
        ]

    def _seconds(self, one: _Try) -> float:
        return 0.0 if one.begun is None else self._clock() - one.begun

    def _add(self, sums: dict[SpentOn, Spent], one: _Try, use: Use) -> None:
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
