"""What the driver of a study spends on trials and reports, and how busy it keeps many slots.

    python -m benchmarks.driver --slots 10 100 1000 10000

The scheduler, its queues and samplers and the results folder are podium's own; worker slots are
simulated, each event in the order of its made-up time. The driver handles one event at a time and
takes the processor time that it takes here, during which slots that wait for it are idle. Of 100
attempts some lose their node, their process, or are slow by a factor, and what is lost is trained
again from scratch. As with Ray, a slot reports at rungs, and before that what it gathered for as
long as its job says, and waits for the answer. Without Ray: what its processes and messages cost
comes on top (`benchmarks.orchestration`).

With ``--decisions`` suggestions are random, and neither they nor rows are written: what is left is
to decide what runs next, and to take in what happened.
"""

import argparse
import bisect
import heapq
import itertools
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from math import inf
from pathlib import Path
from typing import NamedTuple, Self, TypeVar
from unittest.mock import patch

from benchmarks.interleaved import print_header
from benchmarks.simulated_time import Costs, reports_of
from podium.orchestrator.results.records.journal import Journal
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.run.run_study import Console, RunEnd, run_study
from podium.orchestrator.scheduling.executor_interface import Loss, LossCause, NoJob, Scheduler
from podium.orchestrator.search_samplers.sampler_names import SamplerName
from podium.orchestrator.study.resource_demand import Capacity
from podium.orchestrator.study.study import Study
from podium.orchestrator.study_validation.load_study import load_study
from podium.orchestrator.trials.recorder import TrialRecorder
from podium.orchestrator.trials.specification import TrialJob
from podium.orchestrator.trials.worker_messages import Ended, Message

T = TypeVar("T")
_Told = Sequence[Message] | Loss  # what a slot says at a time

_LOSSES = ("contrastive", "multi_similarity", "proxy_anchor", "triplet")
_TRIALS_OF_SEARCH = 50
_LOST: dict[LossCause, float] = {"lost_node": 0.02, "preempted": 0.01, "lost_worker": 0.01}
_SLOW, _SLOW_BY = 0.01, 4.0
_LOOK_SECONDS = 1.0  # between two looks at what has to be killed, as executors have it


class _Event(NamedTuple):
    time: float
    serial: int
    trial_id: str
    told: _Told
    more: Iterator[tuple[float, _Told]]


@dataclass
class Spent:
    """Processor seconds of the driver, by what it did.

    Attributes:
        trials: of each trial that ended, in their order: its job and its last message.
        reports: of what slots said that ended no trial.
        num_messages: how often that was.
        num_reports: how many reports were told so.
        looks: of looking at what has to be killed.
    """

    trials: list[float] = field(default_factory=list)
    reports: float = 0.0
    num_messages: int = 0
    num_reports: int = 0
    looks: float = 0.0


class SimulatedCluster:
    """Worker slots in made-up time, in which the driver takes the time that it takes.

    Attributes:
        spent: what the driver spent.
        occupancy: part of the slots' time that was spent on training while there was a job for
            each of them: until the study first had none.
        late_occupancy: the same of the second half of that time, when slots that all began at
            once no longer end at once.
    """

    def __init__(self, num_slots: int, costs: Costs) -> None:
        self._num_slots, self._costs = num_slots, costs
        self._random = random.Random(0)
        self._worked = 0.0
        self._has_jobs_for_all = True
        self.now = 0.0
        self.spent = Spent()
        self.occupancy = self.late_occupancy = 0.0
        self._done_by: list[tuple[float, float]] = [(0.0, 0.0)]  # time, seconds of work done

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing has to be ended."""

    def capacity(self) -> Capacity:
        return Capacity(cpus=1e9, gpus=1e9, max_trials=self._num_slots)

    def run(self, scheduler: Scheduler) -> None:
        self._due: list[_Event] = []
        self._serials = itertools.count()
        job_seconds: dict[str, float] = {}
        looked = self.now
        while True:
            while len(self._due) < self._num_slots:
                job, seconds = self._timed(lambda: scheduler.next_job(self.capacity()))
                if isinstance(job, NoJob):
                    self._note_occupancy()
                    break
                job_seconds[job.trial_id] = job_seconds.get(job.trial_id, 0.0) + seconds
                scheduler.trials_started([job.trial_id])
                self._push(job.trial_id, self._told_by(job))
            if not self._due:
                return
            event = heapq.heappop(self._due)
            self.now = max(self.now, event.time)
            if self.now - looked >= _LOOK_SECONDS:
                _, seconds = self._timed(lambda: scheduler.trials_to_kill(self.capacity()))
                self.spent.looks += seconds
                looked = self.now
                self._note_work_done()
            continues, seconds = self._timed(partial(_handle, scheduler, event))
            if continues:
                self.spent.reports += seconds
                self.spent.num_messages += 1
                self.spent.num_reports += len(event.told)
                self._push(event.trial_id, event.more)
            elif not isinstance(event.told, Loss):
                self.spent.trials.append(job_seconds.pop(event.trial_id) + seconds)

    def _timed(self, call: Callable[[], T]) -> tuple[T, float]:
        started = time.process_time()
        result = call()
        seconds = time.process_time() - started
        self.now += seconds
        return result, seconds

    def _push(self, trial_id: str, more: Iterator[tuple[float, _Told]]) -> None:
        seconds, told = next(more)
        self._worked += seconds
        until = self.now + seconds
        heapq.heappush(self._due, _Event(until, next(self._serials), trial_id, told, more))

    def _note_work_done(self) -> None:
        if self._has_jobs_for_all:
            ahead = sum(max(0.0, event.time - self.now) for event in self._due)
            self._done_by.append((self.now, self._worked - ahead))

    def _note_occupancy(self) -> None:
        if self._has_jobs_for_all:
            self._note_work_done()
            self._has_jobs_for_all = False
            middle = bisect.bisect(self._done_by, (self.now / 2, inf)) - 1
            self.occupancy, self.late_occupancy = (
                self._occupancy_since(*self._done_by[first]) for first in (0, middle)
            )

    def _occupancy_since(self, time: float, done: float) -> float:
        until, done_until = self._done_by[-1]
        return (done_until - done) / (self._num_slots * (until - time))

    def _told_by(self, job: TrialJob) -> Iterator[tuple[float, _Told]]:
        """What an attempt says at a time, with the seconds of work since the last."""
        seconds = self._costs.of_epoch(job.settings, self.now)
        if self._random.random() < _SLOW:
            seconds *= _SLOW_BY
        reports = list(reports_of(job.settings))
        lost = self._loss()
        lives = self._random.randrange(len(reports)) if lost else len(reports)
        told: list[Message] = []
        for report in reports[:lives]:
            told.append(report)
            is_due = job.is_at_rung(report) or len(told) * seconds >= job.gather_seconds
            if is_due and not job.is_at_end(report):
                yield len(told) * seconds, told
                told = []
        if lost:
            yield (len(told) + 0.5) * seconds, lost
        else:
            yield len(told) * seconds, [*told, Ended(state="COMPLETE")]

    def _loss(self) -> Loss | None:
        number = self._random.random()
        for cause, part in _LOST.items():
            number -= part
            if number < 0:
                return Loss(cause=cause, message="simulated")
        return None


def _handle(scheduler: Scheduler, event: _Event) -> bool:
    if isinstance(event.told, Loss):
        scheduler.trial_lost(event.trial_id, event.told)
        return False
    return scheduler.receive(event.trial_id, event.told)


def study_of(
    num_trials: int, epochs: int, sampler: SamplerName, trials_of_search: int = _TRIALS_OF_SEARCH
) -> Study:
    """Searches of so many trials, at least ``num_trials`` in all."""
    num_dims = max(1, round(num_trials / (len(_LOSSES) * trials_of_search)))
    return load_study(
        {
            "study": "simulated",
            "datasets": [{"name": "glyphs", "script": "greek"}],
            "embedding_dims": [4 + number for number in range(num_dims)],
            "losses": list(_LOSSES),
            "protocol": {"kind": "fixed", "val_fraction": 0.25},
            "search": {"trials": trials_of_search, "sampler": sampler},
            "final": {"seeds": 3},
            "training": {"epochs": epochs},
        }
    )


@contextmanager
def unwritten() -> Iterator[None]:
    """Within the block, asks and rows are not written."""

    def taken(*_: object) -> bool:
        return True

    with (
        patch.object(Journal, "write", new=taken),
        patch.object(TrialRecorder, "commit", new=taken),
        patch.object(TrialRecorder, "copy", new=taken),
    ):
        yield


def run_on(cluster: SimulatedCluster, study: Study, storage: Path) -> RunEnd:
    return run_study(
        study,
        StudyPaths(storage / study.name),
        start_executor=lambda: cluster,
        console=Console(say=lambda line: None),
        trains_here=True,
        clock=lambda: cluster.now,
    )


def simulate(num_slots: int, study: Study, storage: Path, epoch_seconds: float) -> None:
    cluster = SimulatedCluster(num_slots, Costs(epoch=epoch_seconds))
    end = run_on(cluster, study, storage)
    assert end.progress.trials_done == end.progress.trials_planned
    spent = cluster.spent
    fifth = len(spent.trials) // 5
    growth = sum(spent.trials[-fifth:]) / sum(spent.trials[:fifth])
    per_report = spent.reports / spent.num_reports
    print(
        f"| {num_slots:,} | {len(spent.trials):,} | {spent.num_reports:,} "
        f"| {spent.num_messages / cluster.now:,.0f} "
        f"| {1e3 * sum(spent.trials) / len(spent.trials):.1f} | {growth:.2f} "
        f"| {1e3 * per_report:.3f} | {1 / per_report:,.0f} | {cluster.occupancy:.1%} "
        f"| {cluster.late_occupancy:.1%} "
        f"| {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--slots", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--trials-per-slot", type=int, default=3)
    parser.add_argument("--least-trials", type=int, default=1000)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--epoch-seconds", type=float, default=30.0)
    parser.add_argument("--decisions", action="store_true", help="neither draw nor write")
    options = parser.parse_args()
    print_header("benchmarks.driver", "cpu")
    print("| slots | trials | reports | messages a second | ms a trial", end=" ")
    print("| last / first fifth | ms a report | reports a second", end=" ")
    print("| occupancy | second half | MB at most |")
    print("|" + "---|" * 11)
    for num_slots in options.slots:
        num_trials = max(options.least_trials, num_slots * options.trials_per_slot)
        sampler: SamplerName = "random" if options.decisions else "tpe"
        study = study_of(num_trials, options.epochs, sampler)
        with (
            unwritten() if options.decisions else nullcontext(),
            tempfile.TemporaryDirectory() as name,
        ):
            simulate(num_slots, study, Path(name), options.epoch_seconds)


if __name__ == "__main__":
    main()
