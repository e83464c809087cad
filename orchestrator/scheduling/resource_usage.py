"""What a run spends: seconds of CPUs and GPUs, by search, stage and what became of them.

Every attempt at a trial counts from the moment a worker has it until it ends, whatever it led to.
One that no worker ever had is no attempt. The seconds of a population are those of its worker
slot: at any time its members have equal parts of them, and who is left has all.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from podium.orchestrator.results.records.runs import RunSpent, Use
from podium.orchestrator.study.resource_demand import Demand

USE_OF_STATE: Mapping[str, Use] = {"COMPLETE": "complete", "PRUNED": "pruned", "FAILED": "failed"}
"""What became of an attempt that ended in a row of this state."""


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


@dataclass(slots=True, eq=False)
class _OpenAttempt:
    """An attempt that has not ended.

    Attributes:
        seconds: seconds of its slot until the number of attempts in that last changed.
        since: when that was; the time it was handed out as long as it has no slot.
        slot: all attempts in its slot, itself included; empty as long as no worker has it.
    """

    search: str
    stage: str
    demand: Demand
    is_first: bool
    since: float
    seconds: float = 0.0
    slot: "list[_OpenAttempt]" = field(default_factory=list)

    def seconds_by(self, now: float) -> float:
        return self.seconds + (now - self.since) / len(self.slot) if self.slot else 0.0

    def leave(self, now: float) -> None:
        """It is over: the others in its slot have larger parts of that from now on."""
        for one in self.slot:
            one.seconds, one.since = one.seconds_by(now), now
        self.slot.remove(self)


class Spending:
    """The account of one run, by a monotonic clock in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._open: dict[str, _OpenAttempt] = {}
        self._closed: dict[SpentOn, Spent] = {}
        # GPU-seconds until the GPUs in use last changed: no look at each attempt is needed.
        self._gpu_seconds, self._gpus, self._gpus_since = 0.0, 0.0, clock()

    def start(
        self, trial_id: str, search: str, stage: str, demand: Demand, *, is_first: bool
    ) -> None:
        """An attempt at a trial is handed out; waiting for a worker slot costs nothing.

        Of a member of a population the CPUs and GPUs of its slot count. The first attempt starts
        from scratch: there is no checkpoint of one before.
        """
        with self._lock:
            self._open[trial_id] = _OpenAttempt(
                search, stage, demand.whole, is_first, since=self._clock()
            )

    def begin(self, trial_ids: Collection[str]) -> None:
        """A worker has them now, in one slot; later calls change nothing."""
        with self._lock:
            slot = [self._open[name] for name in trial_ids if name in self._open]
            slot = [one for one in slot if not one.slot]
            now = self._clock()
            for one in slot:
                one.since = now
            self._occupy(slot)

    def note_message(self, trial_id: str) -> None:
        """A message of it came; without an earlier `begin` it counts from its handing out."""
        found = self._open.get(trial_id)
        if found is not None and not found.slot:
            with self._lock:
                self._occupy([found])

    def _occupy(self, slot: list[_OpenAttempt]) -> None:
        for one in slot:
            one.slot = slot
        for one in slot[:1]:
            self._count_gpus(one.demand.gpus, one.since)

    def _count_gpus(self, change: float, since: float) -> None:
        """So many more GPUs are in use, or fewer, since a time that may be past."""
        now = self._clock()
        self._gpu_seconds += (now - self._gpus_since) * self._gpus + (now - since) * change
        self._gpus, self._gpus_since = self._gpus + change, now

    def end(self, trial_id: str, use: Use) -> None:
        """It is over; a second call does nothing."""
        with self._lock:
            closed = self._open.pop(trial_id, None)
            if closed is None or not closed.slot:
                return
            now = self._clock()
            _add(self._closed, closed, use, now)
            closed.leave(now)
            if not closed.slot:
                self._count_gpus(-closed.demand.gpus, now)

    def gpu_seconds(self) -> float:
        """GPU-seconds of all attempts by now. May be called from another thread."""
        with self._lock:
            return self._gpu_seconds + (self._clock() - self._gpus_since) * self._gpus

    def now(self) -> dict[SpentOn, Spent]:
        """The sums; what runs counts as unfinished. May be called from another thread."""
        with self._lock:
            sums = added(self._closed.items())
            for running in self._open.values():
                if running.slot:
                    _add(sums, running, "unfinished", self._clock())
            return sums

    def running(self) -> list[tuple[str, str, float]]:
        """Search id, stage and seconds of a slot, of each attempt that has not ended."""
        with self._lock:
            now = self._clock()
            return [(one.search, one.stage, one.seconds_by(now)) for one in self._open.values()]


def _add(sums: dict[SpentOn, Spent], one: _OpenAttempt, use: Use, now: float) -> None:
    seconds, is_whole = one.seconds_by(now), use == "complete" and one.is_first
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
