"""What a run spends: seconds of CPUs and GPUs, by search and by what became of them.

Every try at a trial counts from the moment it is handed out until it ends, whatever it led to.
"""

import time
from dataclasses import dataclass, field
from typing import Literal

from orchestrator.demand import Demand

__all__ = ["Spending", "Spent", "Use"]

Use = Literal[
    "complete",  # became the row of a trial that ended by itself
    "pruned",  # became the row of a trial that was stopped early
    "failed",  # became the row of a failed trial
    "repeated",  # was lost with its worker or node, or tried again for another reason
    "unfinished",  # was left when the run ended
]


@dataclass(slots=True)
class Spent:
    """Sums over tries of one search and use."""

    tries: int = 0
    cpu_seconds: float = 0.0
    gpu_seconds: float = 0.0
    seconds: float = 0.0


@dataclass(slots=True)
class _Try:
    search: str
    demand: Demand
    started: float = field(default_factory=time.monotonic)


class Spending:
    """The account of one run."""

    def __init__(self) -> None:
        self._tries: dict[str, _Try] = {}
        self._closed: dict[tuple[str, Use], Spent] = {}

    def start(self, trial_id: str, search: str, demand: Demand) -> None:
        """A try at a trial is handed out."""
        self._tries[trial_id] = _Try(search, demand)

    def end(self, trial_id: str, use: Use) -> None:
        """It is over; nothing happens if it was over already."""
        closed = self._tries.pop(trial_id, None)
        if closed is not None:
            _add(self._closed, closed, use)

    def now(self) -> dict[tuple[str, Use], Spent]:
        """By search and use; what runs counts as unfinished. May be asked from another thread."""
        sums = {key: _copy(spent) for key, spent in tuple(self._closed.items())}
        for running in tuple(self._tries.values()):
            _add(sums, running, "unfinished")
        return sums


def _copy(spent: Spent) -> Spent:
    return Spent(
        tries=spent.tries,
        cpu_seconds=spent.cpu_seconds,
        gpu_seconds=spent.gpu_seconds,
        seconds=spent.seconds,
    )


def _add(sums: dict[tuple[str, Use], Spent], one: _Try, use: Use) -> None:
    spent = sums.setdefault((one.search, use), Spent())
    seconds = time.monotonic() - one.started
    spent.tries += 1
    spent.seconds += seconds
    spent.cpu_seconds += seconds * one.demand.cpus
    spent.gpu_seconds += seconds * one.demand.gpus
