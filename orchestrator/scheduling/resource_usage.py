"""What a run spends: seconds of CPUs and GPUs, by search, stage and what became of them.

Every attempt at a trial counts from the moment a worker has it until it ends, whatever it led to.
One that no worker ever had is no attempt. The seconds of a population are those of its worker
slot: at any time its members have equal parts of them, and who is left has all.
"""

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from podium.orchestrator.results.records.runs import RunSpent, Use
from podium.orchestrator.study.resource_demand import Demand

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
    """An attempt that has not ended: search id, stage and seconds of a worker slot so far."""

    search: str
    stage: str
    seconds: float


class _SlotTime:
    """Seconds of a worker slot, in equal parts of those who are in it."""

    def __init__(self, clock: Callable[[], float], since: float, num_in_it: int) -> None:
        self._clock = clock
        self._state = (0.0, since, num_in_it)  # replaced at once: another thread reads it

    def part(self) -> float:
        """Seconds of each who is in it by now."""
        seconds, since, num_in_it = self._state
        return seconds + (self._clock() - since) / num_in_it

    def leave(self) -> bool:
        """One is no longer in it; whether none is."""
        num_left = self._state[2] - 1
        if num_left:
            self._state = (self.part(), self._clock(), num_left)
        return not num_left


class _GpuTime:
    """GPU-seconds of all worker slots together, without a look at each attempt."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._in_use: Counter[float] = Counter()  # GPUs of a slot -> number of such slots
        self._state = (0.0, clock(), 0.0)  # replaced at once: another thread reads it

    def seconds(self) -> float:
        """GPU-seconds by now."""
        seconds, since, gpus = self._state
        return seconds + (self._clock() - since) * gpus

    def occupy(self, gpus: float, since: float) -> None:
        """A slot of so many GPUs is in use, since a time that may be past."""
        self._count(gpus, 1, since)

    def release(self, gpus: float) -> None:
        """A slot of so many GPUs is no longer in use."""
        self._count(gpus, -1, self._clock())

    def _count(self, gpus: float, change: int, since: float) -> None:
        now, (seconds, before, rate) = self._clock(), self._state
        self._in_use[gpus] += change
        # Summed anew, since there are few kinds of slots: added up, differences would drift.
        new_rate = sum(each * number for each, number in self._in_use.items())
        seconds += (now - before) * rate + (now - since) * gpus * change
        self._state = (seconds, now, new_rate)


@dataclass(slots=True)
class _OpenAttempt:
    search: str
    stage: str
    demand: Demand
    is_first: bool
    handed_out: float
    slot: _SlotTime | None = None  # once it has begun


class Spending:
    """The account of one run.

    Args:
        clock: gives seconds of a monotonic clock.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open: dict[str, _OpenAttempt] = {}
        self._closed: dict[SpentOn, Spent] = {}
        self._gpu_time = _GpuTime(clock)

    def start(
        self, trial_id: str, search: str, stage: str, demand: Demand, *, is_first: bool
    ) -> None:
        """An attempt at a trial is handed out; waiting for a worker slot costs nothing.

        Args:
            trial_id: id of the trial.
            search: id of its search.
            stage: ``search``, ``final`` or ``baseline``.
            demand: CPUs and GPUs it occupies; of a member of a population those of its slot count.
            is_first: whether it starts from scratch: there is no checkpoint of an attempt before.
        """
        self._open[trial_id] = _OpenAttempt(search, stage, demand.whole, is_first, self._clock())

    def begin(self, trial_ids: Collection[str]) -> None:
        """A worker has them now, in one slot; later calls change nothing."""
        opened = (self._open.get(trial_id) for trial_id in trial_ids)
        found = [one for one in opened if one is not None and one.slot is None]
        self._begin(found, self._clock())

    def note_message(self, trial_id: str) -> None:
        """A message of it came; without an earlier `begin` it counts from its handing out."""
        found = self._open.get(trial_id)
        if found is not None and found.slot is None:
            self._begin([found], found.handed_out)

    def _begin(self, attempts: Sequence[_OpenAttempt], since: float) -> None:
        """They have a slot now; members of a population are parts of one slot."""
        slot = _SlotTime(self._clock, since, len(attempts))
        for one in attempts:
            one.slot = slot
        for one in attempts[:1]:
            self._gpu_time.occupy(one.demand.gpus, since)

    def end(self, trial_id: str, use: Use) -> None:
        """It is over; a second call does nothing."""
        closed = self._open.pop(trial_id, None)
        if closed is not None:
            self._add(self._closed, closed, use)
            if closed.slot is not None and closed.slot.leave():
                self._gpu_time.release(closed.demand.gpus)

    def gpu_seconds(self) -> float:
        """GPU-seconds of all attempts by now. May be called from another thread."""
        return self._gpu_time.seconds()

    def now(self) -> dict[SpentOn, Spent]:
        """The sums; what runs counts as unfinished. May be called from another thread."""
        sums = added(tuple(self._closed.items()))
        for running in tuple(self._open.values()):
            self._add(sums, running, "unfinished")
        return sums

    def running(self) -> list[RunningAttempt]:
        """Each attempt that has not ended."""
        return [
            RunningAttempt(running.search, running.stage, _seconds(running))
            for running in tuple(self._open.values())
        ]

    def _add(self, sums: dict[SpentOn, Spent], one: _OpenAttempt, use: Use) -> None:
        if one.slot is None:
            return
        seconds = _seconds(one)
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


def _seconds(one: _OpenAttempt) -> float:
    return 0.0 if one.slot is None else one.slot.part()


def added(*parts: Iterable[tuple[SpentOn, "Spent | RunSpent"]]) -> dict[SpentOn, Spent]:
    """The sums of several accounts."""
    sums: dict[SpentOn, Spent] = {}
    for part in parts:
        for key, spent in part:
            sums.setdefault(key, Spent()).add(spent)
    return sums
