"""The director: decides what runs next, hears what happened, and commits results.

It is the only writer of trial rows. A trial is done when its row is committed; whatever was not
committed is asked for again, under the same id, by the next run.
"""

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from orchestrator.demand import Capacity, Demand, demand_of, least_demand
from orchestrator.executors.base import Loss, NoJob
from orchestrator.failures import (
    ERROR,
    INPUT,
    LOST,
    MAX_LOSSES,
    OUT_OF_MEMORY,
    STORE,
    FailureTally,
)
from orchestrator.history import TrialHistory
from orchestrator.messages import Ended, Message
from orchestrator.orders import TrialJob, TrialOrder
from orchestrator.progress import StudyProgress
from orchestrator.queues import StudyQueues
from orchestrator.record import Recorder, RowOutcome
from orchestrator.results import checkpoints
from orchestrator.results.artifacts import remove_leftovers
from orchestrator.results.asks import Ask, write_ask
from orchestrator.results.attempts import count_attempts, read_attempt, write_attempt
from orchestrator.results.errors import PodiumError, StoreError
from orchestrator.results.metrics import short_label
from orchestrator.results.paths import StudyPaths
from orchestrator.search_run import Outcome
from orchestrator.spending import Spending, Use
from orchestrator.study import Study
from trainables.records import EpochReport

__all__ = ["StudyDirector"]


_USES: Mapping[str, Use] = {"COMPLETE": "complete", "PRUNED": "pruned", "FAILED": "failed"}


def _one_trial() -> Capacity:
    return Capacity(cpus=math.inf, gpus=math.inf, max_trials=1)


@dataclass(slots=True)
class _Running:
    order: TrialOrder
    history: TrialHistory
    attempt: int
    demand: Demand
    started: float = field(default_factory=time.monotonic)
    begun: float | None = None


class StudyDirector:
    """Drives one study; an executor calls it from one thread, watchers take snapshots."""

    def __init__(
        self,
        study: Study,
        paths: StudyPaths,
        queues: StudyQueues,
        recorder: Recorder,
        check_lock: Callable[[], object],
        objective: str,
    ) -> None:
        self._study = study
        self._objective = objective
        self._paths = paths
        self._queues = queues
        self._recorder = recorder
        self._check_lock = check_lock  # raises if somebody else owns the study by now
        # The executor's, known once it has started.
        self.capacity: Callable[[], Capacity] = _one_trial
        self.spending = Spending()
        self._places = 1
        self._running: dict[str, _Running] = {}
        self._losses: dict[str, int] = {}
        self._stopping = threading.Event()
        self._trial_seconds = 0.0
        self._trials_ended = 0
        self._failures = FailureTally()
        self._anything_works = queues.num_done > queues.num_failed

    @property
    def is_stopping(self) -> bool:
        """Whether running trials are to be left where they are."""
        return self._stopping.is_set()

    def stop(self) -> None:
        """Ask for a clean stop: nothing new starts, running trials stay at their checkpoints."""
        self._stopping.set()

    def next_job(self) -> TrialJob | NoJob:
        """A job for a free slot, from whatever is furthest behind its fair share."""
        if self.is_stopping:
            return NoJob.FINISHED
        self._check_lock()
        self._commit_copies()
        order = self._queues.next_order(self._write_ask) if self._has_free_slot() else None
        if order is None:
            return NoJob.WAIT if self._running else NoJob.FINISHED
        demand = demand_of(self._study, order.search.block)
        if not self._fits(demand):
            self._queues.put_back(order)
            return NoJob.WAIT
        attempt = count_attempts(self._paths, order.trial_id) + 1
        self._running[order.trial_id] = _Running(
            order=order,
            history=TrialHistory(self._study.ks[0], self._objective),
            attempt=attempt,
            demand=demand,
        )
        self.spending.start(order.trial_id, order.search.id, demand)
        # Workers have a current folder of their own.
        folder = str(self._paths.folder.absolute())
        return order.job(folder, attempt, self._study.keep, demand)

    def begun(self, trial_id: str) -> None:
        """A worker has the job now: waiting in a queue is not the trial's time."""
        running = self._running.get(trial_id)
        if running is not None:
            running.begun = time.monotonic()

    def hear(self, trial_id: str, messages: Sequence[Message]) -> bool:
        """Take in what a trial said; False means it is over (ended or pruned)."""
        running = self._running.get(trial_id)
        if running is None:  # a late word of a trial that is over
            return False
        for message in messages:
            if isinstance(message, Ended):
                self._end(running, message)
                return False
            running.history.add(message)
            self._anything_works = True
        if any(isinstance(message, EpochReport) for message in messages):
            return self._goes_on(running)
        return True

    def lose(self, trial_id: str, loss: Loss) -> None:
        """A worker or node died under a trial: it is asked for again, but not for ever."""
        running = self._running.pop(trial_id, None)
        if running is None:
            return
        self._note_loss(running)
        self.spending.end(trial_id, "repeated")
        self._losses[trial_id] = self._losses.get(trial_id, 0) + 1
        if self._losses[trial_id] < MAX_LOSSES:
            self._queues.put_back(running.order)
            return
        self._running[trial_id] = running
        message = f"its worker or node died {MAX_LOSSES} times under it; last: {loss.message}"
        self._end(
            running,
            Ended(state="FAILED", cause=LOST, message=message, traceback=None, log=None),
        )

    def overdue(self) -> Mapping[str, Loss]:
        """Trials that must be killed now."""
        return {}

    @property
    def slots(self) -> int:
        """How many trials run at a time, as of now."""
        self._places = self.capacity().num_fitting(least_demand(self._study))
        return self._places

    def progress(self) -> StudyProgress:
        """A snapshot; may be taken from another thread."""
        running = [entry.order for entry in tuple(self._running.values())]
        done, planned = self._queues.num_done, self._queues.num_planned
        left = None
        if self._trials_ended:
            mean_seconds = self._trial_seconds / self._trials_ended
            left = mean_seconds * (planned - done) / self._places
        return StudyProgress(
            searches=self._queues.progress(running),
            trials_done=done,
            trials_planned=planned,
            running=len(running),
            failed=self._queues.num_failed,
            seconds_left=left,
            score=short_label(self._objective, self._study.ks[0]),
            failures=self._failures.lines(),
        )

    def _note_loss(self, running: _Running) -> None:
        """A killed worker cannot say how its attempt ended."""
        attempt = read_attempt(self._paths, running.order.trial_id, running.attempt)
        if attempt is not None:
            write_attempt(self._paths, replace(attempt, ended_at=datetime.now(UTC), cause=LOST))

    def _has_free_slot(self) -> bool:
        least = least_demand(self._study)
        self._places = self.capacity().num_fitting(least)
        return self._fits(least)

    def _fits(self, demand: Demand) -> bool:
        """Whether one more runs beside the others; the only one always may."""
        demands = [running.demand for running in self._running.values()]
        return not demands or self.capacity().fits([*demands, demand])

    def _write_ask(self, ask: Ask) -> None:
        if not write_ask(self._paths, ask):
            raise StoreError(
                f"suggestion {ask.index} of search {ask.search} was written by somebody else; "
                f"two runs seem to use {self._paths.folder}"
            )

    def _goes_on(self, running: _Running) -> bool:
        order = running.order
        if order.stage != "search":
            return True
        step, best = running.history.running_objectives()[-1]
        if self._queues.goes_on(order, step, best):
            return True
        rung = self._queues.rung_at(order, step)
        self._commit(running, RowOutcome(state="PRUNED", rung=rung))
        return False

    def _end(self, running: _Running, ended: Ended) -> None:
        if ended.cause == STORE:
            raise StoreError(ended.message or "the results store failed under a worker")
        if ended.state == "FAILED":
            self._judge_failure(running, ended)
        self._commit(
            running,
            RowOutcome(
                state=ended.state,
                cause=ended.cause,
                message=ended.message,
                traceback=ended.traceback,
                log=ended.log,
            ),
        )

    def _judge_failure(self, running: _Running, ended: Ended) -> None:
        """Stop where the study's own data, weights or settings are no good, or nothing works.

        A config that a search chose may be at fault itself; the published default and the
        untrained network are not. Every other trial would fail alike, and stay failed.

        Raises:
            PodiumError: what has to be mended. The trial leaves no row: the next run tries again.
        """
        order = running.order
        place = f"{order.search.block.label} {order.search.loss}"
        is_searched = order.stage == "search" and not order.is_default
        is_everyones = ended.cause == INPUT or (
            ended.cause in (ERROR, OUT_OF_MEMORY) and not self._anything_works
        )
        if is_everyones and not is_searched and running.history.is_empty:
            raise PodiumError(
                f"{place} cannot be trained: {ended.message}\n"
                "Nothing was recorded of it: mend this, then the same command goes on."
            )
        self._failures.add(str(ended.cause), f"{ended.message} ({place})")

    def _commit(self, running: _Running, outcome: RowOutcome) -> None:
        order, history = running.order, running.history
        self._check_lock()
        self._recorder.commit(order, history, outcome, running.attempt)
        del self._running[order.trial_id]
        self.spending.end(order.trial_id, _USES[outcome.state])
        checkpoints.delete(self._paths, order.trial_id)
        if order.stage != "search":
            remove_leftovers(self._paths, order.trial_id)
        objective = history.objective() if outcome.state == "COMPLETE" else None
        self._trial_seconds += time.monotonic() - running.started
        self._trials_ended += 1
        self._queues.finish(
            order,
            Outcome(
                state=outcome.state,
                objective=objective,
                path=history.running_objectives(),
                selected_epoch=history.selected_epoch,
                # As it is read from the store again.
                seconds=history.seconds - history.test_seconds,
            ),
        )
        self._commit_copies()

    def _commit_copies(self) -> None:
        """Rows of finals that another search had trained."""
        orders = self._queues.take_copies()
        if orders:
            self._recorder.copy(orders)
        for order in orders:
            self._queues.finish_test(order)
