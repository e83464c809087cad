"""The scheduler: decides what runs next, takes in what happened, and commits results.

It is the only writer of trial rows. A trial is done when its row is committed; whatever was not
committed is run again, under the same id, by the next run.
"""

import logging
import math
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from podium.errors import StoreError
from podium.orchestrator.results.records.journal import Journal
from podium.orchestrator.results.records.journal_records import Ask, Attempt
from podium.orchestrator.results.records.metric_columns import short_label
from podium.orchestrator.results.records.runs import Run, StartedTrial
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.files import remove
from podium.orchestrator.results.trial_files.gather_trials import gather_search
from podium.orchestrator.scheduling.executor_interface import Loss, NoJob
from podium.orchestrator.scheduling.resource_usage import USE_OF_STATE
from podium.orchestrator.scheduling.run_accounting import RunAccount
from podium.orchestrator.scheduling.running_search import SearchRun
from podium.orchestrator.scheduling.running_trial import (
    RunningTrial,
    RunningTrials,
    ended_attempt,
)
from podium.orchestrator.scheduling.study_events import Event, EventSource
from podium.orchestrator.scheduling.study_progress import StudyProgress
from podium.orchestrator.scheduling.systematic_failures import SystematicFailureDetector
from podium.orchestrator.scheduling.timeouts import TimeoutWatch, gather_seconds, timeout_of
from podium.orchestrator.scheduling.trial_queues import StudyQueues
from podium.orchestrator.scheduling.used_and_left import UsedAndLeft
from podium.orchestrator.scheduling.worker_slots import WorkerSlots
from podium.orchestrator.search_samplers.suggester import Outcome
from podium.orchestrator.study.resource_demand import Capacity
from podium.orchestrator.study.study import Control, Study
from podium.orchestrator.trials.failure_causes import STORE
from podium.orchestrator.trials.recorder import TrialRecorder
from podium.orchestrator.trials.retries import failure_of, is_retried
from podium.orchestrator.trials.specification import TrialJob, TrialSpec
from podium.orchestrator.trials.worker_messages import Ended, Message, Saved
from podium.trainables.trial_reports import EpochReport

_LEAST_GATHERED = 16
_PAUSE_SECONDS = 1.0  # between two looks at whether a pause is over
_MAX_LOGS = 1000  # so many trials of a study keep their log file; then only those that fail do
_log = logging.getLogger(__name__)


class StudyScheduler:
    """Drives one study; an executor calls it from one thread, watchers take snapshots.

    Args:
        check_ownership: raises if another process owns the results folder by now.
        objective: name of the validation metric that searches maximise.
        account: CPU and GPU seconds and hours of all runs of the study.
        on_event: takes what happens; what it raises ends the run.
        control: gives what the user changes meanwhile; by default nothing.

    Attributes:
        budget: what is used of it, and how long the study still takes.
        events: tells what happens.
    """

    def __init__(
        self,
        study: Study,
        paths: StudyPaths,
        journal: Journal,
        check_ownership: Callable[[], object],
        *,
        objective: str,
        queues: StudyQueues,
        account: RunAccount,
        on_event: Callable[[Event], object] | None = None,
        control: Callable[[], Control] = Control,
    ) -> None:
        self._study = study
        self._current_control, self._control = control, Control()
        self._account = account
        account.completed = self._completed
        self._paths, self._journal, self._check_ownership = paths, journal, check_ownership
        self._recorder = TrialRecorder(study, paths)
        self._objective = objective
        self._queues = queues
        self._spending = account.spending
        self.budget = UsedAndLeft(study, account, queues)
        self.events = EventSource(study.name, queues, self.progress, on_event)
        self._gathered = Counter[str]()  # search id -> its trials when it was gathered last
        self._slots = WorkerSlots(study, queues.earlier, objective)
        self._capacity = Capacity(cpus=math.inf, gpus=math.inf, max_trials=1)  # until told
        self._running = RunningTrials()
        self._timeouts = TimeoutWatch(study.resources)
        self._stopping = threading.Event()
        self._failures = SystematicFailureDetector(
            anything_works=queues.num_done > queues.num_failed
        )

    @property
    def is_stopping(self) -> bool:
        """Whether running trials are to be left where they are."""
        return self._stopping.is_set()

    def stop(self) -> None:
        """Ask for a clean stop: nothing new starts, running trials stay at their checkpoints."""
        self._stopping.set()

    def check_budget(self) -> bool:
        """Whether the study continues, as the user wants it now: a used up budget stops it."""
        self._apply_control()
        if self.budget.is_used_up(len(self._running)):
            self.stop()
        return not self.is_stopping

    def _outlasts_pause(self) -> bool:
        """Whether the study continues; waits while it is paused and nothing runs.

        Executors would take a study of which nothing runs and nothing starts for a finished one.
        """
        while self.check_budget() and self._control.is_paused and not self._running:
            self._check_ownership()
            self._stopping.wait(_PAUSE_SECONDS)
        return not self.is_stopping

    def bounded(self, capacity: Capacity) -> Capacity:
        """The capacity for as many trials at a time as the study and the user allow."""
        return capacity.at_most(self._control.max_concurrent or self._study.search.max_concurrent)

    def _apply_control(self) -> None:
        control = self._current_control()
        if control is not self._control:
            self._control = control
            self._account.cancel_searches(self._queues.cancel(control.cancelled))
            self._account.set_budget(control.budget(self._study.budget))

    def next_job(self, capacity: Capacity) -> TrialJob | NoJob:
        """A job for a free slot, from whatever is furthest behind its fair share."""
        if not self._outlasts_pause():
            return NoJob.FINISHED
        capacity = self._capacity = self.bounded(capacity)
        if self._control.is_paused or self.budget.are_trials_used_up(len(self._running)):
            return NoJob.WAIT
        self._check_ownership()
        self._commit_copies()
        running = self._slots.next(
            partial(self._queues.next_spec, self._write_ask, self._slots.num_in(capacity)),
            capacity,
            self._running,
        )
        self._commit_copies()  # a search may have ended with its last suggestion
        self.events.searches_ended()
        if running is None:
            return NoJob.WAIT if self._running else NoJob.FINISHED
        spec = running.spec
        self._running.add(running)
        _log.debug("%s: attempt %d, %d running", _said(spec), running.attempt, len(self._running))
        self._spending.start(
            spec.trial_id, spec.search.id, spec.stage, running.demand, is_first=not running.earlier
        )
        # Workers have a current folder of their own.
        paths = replace(self._paths, folder=self._paths.folder.absolute())
        job = spec.job(paths, running.attempt, self._study.keep, running.demand)
        is_compared = spec.stage == "search"
        return replace(
            job,
            checkpoint_minutes=self._study.resources.checkpoint_minutes,
            rungs=self._queues.run_of(spec).early_stopper.steps if is_compared else frozenset(),
            gather_seconds=gather_seconds(self._slots.num_in(capacity), self._study.resources),
            keeps_log=self._queues.num_trained < _MAX_LOGS,
        )

    def trials_started(self, trial_ids: Sequence[str]) -> None:
        """A worker has the jobs of a slot now: waiting in a queue is not the trials' time."""
        self._spending.begin(trial_ids)
        for trial_id in trial_ids:
            running = self._running.get(trial_id)
            if running is not None:
                running.note_message()
                running.members = len(trial_ids)
                self._journal.write(running.record())

    def receive(self, trial_id: str, messages: Sequence[Message]) -> bool:
        """Process the messages of a trial; False means it is over (ended or pruned)."""
        running = self._running.get(trial_id)
        if running is None:  # a late message of a trial that is over
            return False
        running.note_message()
        self._spending.note_message(trial_id)
        for message in messages:
            if isinstance(message, Ended):
                self._end_attempt(running, message)
                return False
            if isinstance(message, Attempt):
                running.told = message  # which need not be read in the store
                self._journal.write(message)
                continue
            if isinstance(message, Saved):
                running.has_saved = True
                continue
            running.history.add(message)
            if isinstance(message, EpochReport):
                self.events.epoch_ended(running.spec, message)
            if running.is_past_earlier_attempts:
                self._failures.note_progress(running)
        if any(isinstance(message, EpochReport) for message in messages):
            self.events.epochs_reported()
            return self._continues(running)
        return True

    def trial_lost(self, trial_id: str, loss: Loss) -> None:
        """A trial ended without a message of its own: it is retried, but not for ever."""
        running = self._running.get(trial_id)
        if running is not None and not self.is_stopping:
            ended = Ended(state="FAILED", cause=loss.cause, message=loss.message)
            self._end_attempt(running, ended)

    def trials_to_kill(self, capacity: Capacity) -> Mapping[str, Loss]:
        """Trials that must be killed now, by id; also stops a study whose budget is used up.

        Raises:
            PodiumError: the run may not go on: its lock is lost, or its folder is gone.
        """
        self._check_ownership()
        self._journal.flush()
        self.check_budget()
        capacity = self._capacity = self.bounded(capacity)
        return self._timeouts.losses(self._running.all(), capacity)

    def _completed(self, run: Run) -> Run:
        """What is written of this run, with how far the study is, or how long its journals are."""
        if run.end is not None:
            return replace(run, journal_lines=self._journal.num_lines())
        progress = self.progress()
        return replace(
            run,
            seconds_left=progress.seconds_left,
            part_done=progress.part_done,
            running=tuple(
                StartedTrial(
                    trial_id=entry.spec.trial_id,
                    search=entry.spec.search.id,
                    stage=entry.spec.stage,
                    attempt=entry.attempt,
                    where=f"{entry.told.node} {entry.told.device}" if entry.told else "",
                )
                for entry in self._running.all()
                if entry.begun is not None
            ),
        )

    def progress(self) -> StudyProgress:
        """A snapshot; may be taken from another thread."""
        running = [entry.spec for entry in self._running.all()]
        seconds_left, part_done = self.budget.left(self._slots.num_in(self._capacity))
        return StudyProgress(
            searches=self._queues.progress(running),
            trials_done=self._queues.num_done,
            trials_planned=self._queues.num_planned,
            running=len(running),
            failed=self._queues.num_failed,
            seconds_left=seconds_left,
            part_done=part_done,
            score=short_label(self._objective, self._study.ks[0]),
            failures=self._failures.tally.lines(),
            budget=self.budget.uses(),
            retries=self._failures.tally.retries(),
        )

    def _write_ask(self, ask: Ask) -> None:
        self._journal.write(ask)
        # Who was stopped meanwhile may have written what does not count.
        self._check_ownership()

    def _continues(self, running: RunningTrial) -> bool:
        spec = running.spec
        self._check_ownership()
        self.check_budget()
        if spec.stage == "search":
            step, best = running.history.running_objectives()[-1]
            search = self._queues.run_of(spec)
            continues = search.continues(spec.trial_id, step, best)
            if running.may_be_pruned and not continues:
                rung = search.early_stopper.rung_at(step)
                ended = Ended(state="PRUNED", rung=rung, has_saved=running.has_saved)
                self._commit(running, ended, self._noted_end(running, ended))
                return False
        late = timeout_of(running, self._study.resources)
        if late is not None:
            self.trial_lost(spec.trial_id, late)
        return late is None

    def _end_attempt(self, running: RunningTrial, ended: Ended) -> None:
        if ended.cause == STORE:
            raise StoreError(ended.message or "the results store failed under a worker")
        attempt = self._noted_end(running, ended)
        if is_retried(ended.cause):
            counted = (*running.earlier, attempt) if attempt else running.earlier
            failure = failure_of(counted, running.demand, self._capacity) if attempt else None
            if failure is None:
                number = running.attempt if attempt else running.attempt - 1
                self._queues.earlier[running.spec.trial_id] = number, counted
                self._retry(running, ended)
                return
            ended = replace(
                ended,
                cause=failure.cause,
                message=failure.message,
                peak_memory_mb=failure.peak_memory_mb,
            )
        if ended.state == "FAILED":
            self._failures.record_failure(running, ended, self._slots.num_handed_out)
        self._commit(running, ended, attempt)

    def _noted_end(self, running: RunningTrial, ended: Ended) -> Attempt | None:
        """The attempt with its end, which is in the journal; None if there was no attempt."""
        attempt = ended_attempt(running, ended)
        if attempt is not None:
            self._journal.write(attempt)
        return attempt

    def note_stopped(self) -> None:
        """Write that the attempts that run were stopped, once their workers are."""
        for running in self._running.all():
            if running.begun is not None:
                self._journal.write(running.ended_record("stopped"))
        self._journal.flush(now=True)

    def _retry(self, running: RunningTrial, ended: Ended) -> None:
        trial_id = running.spec.trial_id
        self._running.retry(running)
        self._spending.end(trial_id, "repeated")
        self._failures.tally.add_retry(str(ended.cause))
        _log.debug("%s is retried: %s: %s", _said(running.spec), ended.cause, ended.message)
        self._queues.requeue(running.spec)

    def _commit(self, running: RunningTrial, ended: Ended, attempt: Attempt | None) -> None:
        spec, history = running.spec, self._running.longest_history(running)
        self._check_ownership()
        self._recorder.commit(spec, history, ended, attempt or running.record())
        self._running.remove(running)
        self._queues.earlier.pop(spec.trial_id, None)
        self._spending.end(spec.trial_id, USE_OF_STATE[ended.state])
        if running.attempt > 1 or ended.has_saved:
            remove(self._paths.checkpoint(spec.trial_id))
        objective = history.objective() if ended.state == "COMPLETE" else None
        trained = sum(report.epoch > 0 for report in history.epochs)
        ends = {"FAILED": f"{ended.cause}: {ended.message}", "PRUNED": f"at rung {ended.rung}"}
        how = ends.get(ended.state, f"objective {objective}")
        _log.debug("%s: %s after %d epochs, %s", _said(spec), ended.state, trained, how)
        path = history.running_objectives()
        outcome = Outcome(ended.state, objective, path, history.selected_epoch)
        self._queues.finish(spec, outcome)
        if spec.stage == "search":
            self._gather(self._queues.run_of(spec))
        self._commit_copies()
        self.events.trial_ended(spec, history, ended.state)

    def _gather(self, run: SearchRun) -> None:
        """Gather the rows of a search once half as many again ended, and once it is over.

        So who reads opens few files, and a row is written anew O(log n) times.
        """
        search, known = run.search.id, self._gathered[run.search.id]
        if run.is_over or run.num_ended - known >= max(_LEAST_GATHERED, known // 2):
            gather_search(self._paths, search, self._check_ownership)
            self._gathered[search] = run.num_ended

    def _commit_copies(self) -> None:
        """Commit the rows of finals that another search has trained."""
        for search, specs in self._queues.final_stage.take_copies().items():
            self._recorder.copy(search, specs)
            for spec in specs:
                self._queues.final_stage.finish(spec)


def _said(spec: TrialSpec) -> str:
    """A trial in a log."""
    return f"{spec.stage} trial {spec.trial_id} of {spec.search.id}"
