"""Studies whose trials take made-up seconds on made-up worker slots; all else is podium's own."""

import hashlib
import heapq
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from podium.orchestrator.executors.job_groups import job_groups
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.run.run_study import Console, run_study
from podium.orchestrator.scheduling.executor_interface import NoJob, Scheduler
from podium.orchestrator.scheduling.study_scheduler import StudyScheduler
from podium.orchestrator.study.resource_demand import Capacity
from podium.orchestrator.study.study import Study
from podium.orchestrator.trials.specification import TrialJob
from podium.orchestrator.trials.worker_messages import Ended, Message
from podium.trainables.settings.trial_settings import TrialSettings
from podium.trainables.trial_reports import EpochReport, Score, TestReport

_Messages = Iterator[tuple[float, float, Message]]

_LOOKED_AT = 5  # every so many messages; a look takes longer than a message


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Seconds of trials.

    Attributes:
        epoch: seconds of an epoch, before all other factors.
        by_loss: factor of each loss; 1 of others.
        by_dimension: factor of each embedding dimension; 1 of others.
        spread: the factor of a config lies between 1 / spread and spread.
        drift: factor by which everything takes longer after each 10,000 seconds.
        start: seconds before the first epoch of a trial.
        first_start: more of these for the first trial of each worker slot.
        test: seconds of a test, in epochs.
    """

    epoch: float = 1.0
    by_loss: dict[str, float] = field(default_factory=dict)
    by_dimension: dict[int, float] = field(default_factory=dict)
    spread: float = 1.2
    drift: float = 1.0
    start: float = 1.0
    first_start: float = 10.0
    test: float = 1.0

    def of_epoch(self, settings: TrialSettings, now: float) -> float:
        """Seconds of an epoch of a trial that begins at ``now``."""
        factor = self.by_loss.get(settings.loss, 1.0)
        factor *= self.by_dimension.get(settings.embedding_dim, 1.0)
        factor *= self.spread ** (2 * _number_of(settings, 1) - 1)
        return self.epoch * factor * self.drift ** (now / 10_000)


class SimulatedSlots:
    """Runs the scheduler's jobs in made-up time; members of a population one after the other.

    Args:
        num_slots: number of trials at a time.
        costs: seconds of trials.
        stop_after: seconds after which the run is stopped as by Ctrl-C; None runs it to its end.
        began: the time at which it begins.
    """

    def __init__(
        self, num_slots: int, costs: Costs, stop_after: float | None = None, began: float = 0.0
    ) -> None:
        self._num_slots = num_slots
        self._costs = costs
        self._stop_at = None if stop_after is None else began + stop_after
        self.now = began
        self.began = began
        self.estimates: list[tuple[float, float, float]] = []  # time, seconds left, part done

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing has to be ended."""

    def capacity(self) -> Capacity:
        return Capacity(cpus=1e9, gpus=1e9, max_trials=self._num_slots)

    def run(self, scheduler: Scheduler) -> None:
        assert isinstance(scheduler, StudyScheduler)
        serials, num_started, num_messages = itertools.count(), 0, 0
        groups = job_groups(lambda: scheduler.next_job(self.capacity()))
        due: list[tuple[float, int, dict[str, _Messages], dict[str, Message]]] = []

        def push(members: dict[str, _Messages]) -> None:
            found = {trial_id: next(messages) for trial_id, messages in members.items()}
            waits, seconds, _ = zip(*found.values(), strict=True)
            texts = {trial_id: message for trial_id, (_, _, message) in found.items()}
            until = self.now + max(waits) + sum(seconds)
            heapq.heappush(due, (until, next(serials), members, texts))

        while not scheduler.is_stopping:
            while len(due) < self._num_slots:
                jobs = next(groups)
                if isinstance(jobs, NoJob):
                    break
                is_first = num_started < self._num_slots
                scheduler.trials_started([job.trial_id for job in jobs])
                push({job.trial_id: self._messages(job, is_first=is_first) for job in jobs})
                num_started += 1
            if not due or (self._stop_at is not None and self.now >= self._stop_at):
                return scheduler.stop() if due else None
            self.now, _, members, texts = heapq.heappop(due)
            living = {
                trial_id: members[trial_id]
                for trial_id, message in texts.items()
                if scheduler.receive(trial_id, [message])
            }
            if living:
                push(living)
            num_messages += 1
            if num_messages % _LOOKED_AT == 0:
                progress = scheduler.progress()
                if progress.seconds_left is not None and progress.part_done is not None:
                    seen = (self.now, progress.seconds_left, progress.part_done)
                    self.estimates.append(seen)
        return None

    def _messages(self, job: TrialJob, *, is_first: bool) -> _Messages:
        """Every message of a trial, each with seconds of waiting and of work since the last."""
        costs, settings = self._costs, job.settings
        seconds = costs.of_epoch(settings, self.now)
        wait = costs.start + (costs.first_start if is_first else 0.0)
        for report in reports_of(settings):
            of_report = seconds * (costs.test if isinstance(report, TestReport) else 1.0)
            yield wait, of_report, replace(report, seconds=of_report)
            wait = 0.0
        yield 0.0, 0.0, Ended(state="COMPLETE")


def simulate(study: Study, storage: Path, slots: SimulatedSlots) -> None:
    """Start or continue a study in made-up time; the slots have the estimates then."""
    run_study(
        study,
        StudyPaths(storage / study.name),
        start_executor=lambda: slots,
        console=Console(say=lambda line: None),
        trains_here=True,
        clock=lambda: slots.now,
    )


def ratio_at(slots: SimulatedSlots, part: float) -> float | None:
    """Estimated / true seconds left once this part of a run has passed; None: no estimate yet."""
    at = slots.began + part * (slots.now - slots.began)
    seen = [(when, left) for when, left, _ in slots.estimates if when <= at]
    if not seen:
        return None
    when, left = seen[-1]
    return left / (slots.now - when)


def reports_of(settings: TrialSettings) -> Iterator[EpochReport | TestReport]:
    """A learning curve whose ceiling is drawn by the config."""
    ceiling = 0.5 + 0.4 * _number_of(settings)
    last = settings.stop_epoch or int(
        settings.hyperparameters.get("epochs", settings.training.epochs)
    )
    for fold in settings.folds:
        for epoch in range(0 if last == 0 else 1, last + 1):
            recall = ceiling * (1 - 0.5 ** (epoch + 1))
            scores = tuple(_recall("val", k, recall) for k in settings.ks)
            yield EpochReport(
                fold=fold,
                epoch=epoch,
                scores=(Score(role="train", metric="loss", value=1 - recall), *scores),
                class_hits=(),
                seconds=0.0,
                peak_memory_mb=100.0,
            )
        if settings.evaluate_test:
            scores = tuple(_recall("test", k, ceiling) for k in settings.ks)
            yield TestReport(
                fold=fold,
                epoch=last,
                scores=scores,
                class_hits=(),
                retrievals=(),
                seconds=0.0,
            )


def _recall(role: str, k: int, value: float) -> Score:
    hits = round(200 * value)
    return Score(
        role=role, metric="recall", k=k, value=hits / 200, hits=hits, queries=200, gallery=200
    )


def _number_of(settings: TrialSettings, which: int = 0) -> float:
    """One of several numbers in [0, 1) drawn by the config."""
    text = repr(sorted(settings.hyperparameters.items()))
    return hashlib.sha256(text.encode()).digest()[which] / 256
