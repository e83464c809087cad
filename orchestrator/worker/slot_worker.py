"""Runs what a worker slot has: one trial, or a population of them together, epoch by epoch."""

import io
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from podium.orchestrator.trials.failure_causes import (
    DATA,
    DEVICE,
    OUT_OF_HOST_MEMORY,
    OUT_OF_MEMORY,
    STORE,
    cause_of,
)
from podium.orchestrator.trials.specification import TrialJob
from podium.orchestrator.trials.worker_messages import Ended, Message
from podium.orchestrator.worker.process_memory import clear_frames, limit_memory, release_memory
from podium.orchestrator.worker.worker import TrialFunction, reports_of, train
from podium.orchestrator.worker.worker_attempt import WorkerAttempt, captured
from podium.trainables.trial_reports import EpochReport, Report, TestReport

if TYPE_CHECKING:
    from podium.trainables.population.run_population import MemberReport, Population

Messages = dict[str, list[Message]]

_OF_MEMORY = (OUT_OF_MEMORY, OUT_OF_HOST_MEMORY)
_OF_NO_MEMBER = (DATA, DEVICE, STORE)  # another half would meet them too


class SlotWorker:
    """One worker slot. `start` jobs, then `step` until all of them are over.

    Where memory runs out, or an error ends all members of a population that may be the fault of
    one, they start again, one half of them after the other; what they reported before they do not
    report again. A trial alone resumes from its checkpoint if there is one. It never raises:
    failures become messages.

    Args:
        trial: runs a trial alone.
        gathers: whether epochs between two rungs are gathered as long as the jobs say before they
            are reported, or each is.
    """

    def __init__(self, trial: TrialFunction = train, gathers: bool = False) -> None:
        self._trial = trial
        self._gathers = gathers
        self._gather_seconds = 0.0  # of the jobs
        self._reports: Iterator[Report] | None = None  # of a trial that is run alone
        self._attempts: dict[str, WorkerAttempt] = {}
        self._turns: list[list[str]] = []
        self._population: Population | None = None
        self._to_skip: dict[str, int] = {}

    @property
    def trials(self) -> Collection[str]:
        """Ids of the trials that are not over."""
        return self._attempts.keys()

    def start(self, jobs: Sequence[TrialJob]) -> None:
        """Take on a job to run alone, or those of one population, each from scratch."""
        self.stop()
        self._attempts = {job.trial_id: WorkerAttempt(job) for job in jobs}
        if len(jobs) == 1:
            self._reports = reports_of(self._attempts[jobs[0].trial_id], self._trial)
        self._turns = [list(self._attempts)]
        self._to_skip = dict.fromkeys(self._attempts, 0)
        self._gather_seconds = jobs[0].gather_seconds if self._gathers else 0.0

    def step(self) -> Messages:
        """Run until the scheduler has to decide, or hear; returns the messages of each trial.

        Of who waits for its turn, or repeats what it reported, there are none: an empty list, by
        which the scheduler knows that nothing is stuck.
        """
        due_from = time.monotonic() + self._gather_seconds
        if self._reports is not None:
            return self._step_alone(self._reports, due_from)
        messages: Messages = {trial_id: [] for trial_id in self._attempts}
        turn = [trial_id for trial_id in self._turns[0] if trial_id in self._attempts]
        is_due = not turn
        while not is_due:
            of_epoch = self._epoch(turn)
            for trial_id, reports in of_epoch.items():
                messages[trial_id] += reports
            is_due = (
                self._population is None
                or any(self._is_due(*last) for last in of_epoch.items())
                or time.monotonic() >= due_from
            )
        if not any(trial_id in self._attempts for trial_id in self._turns[0]):
            del self._turns[0]
            self._population = None
        return messages

    def _step_alone(self, reports: Iterator[Report], due_from: float) -> Messages:
        ((trial_id, attempt),) = self._attempts.items()
        messages: list[Message] = []
        try:
            with captured(attempt.log):
                for report in reports:
                    messages += attempt.take(report)
                    is_due = attempt.job.is_at_rung(report) or time.monotonic() >= due_from
                    if is_due and not attempt.job.is_at_end(report):
                        return {trial_id: messages}
            ended = attempt.complete()
        except Exception as error:  # as in a population
            ended = attempt.failed(error)
            clear_frames(error)
        return {trial_id: [*messages, self._end(trial_id, ended)]}

    def _is_due(self, trial_id: str, messages: Sequence[Message]) -> bool:
        """Whether the scheduler has to know at once what a trial said."""
        attempt = self._attempts.get(trial_id)  # None of a trial that is over
        return attempt is None or any(
            attempt.job.is_at_rung(message)
            for message in messages
            if isinstance(message, EpochReport | TestReport)
        )

    def drop(self, trial_id: str) -> None:
        """Train a trial no further, as it was pruned; its attempt ends as "stopped"."""
        if self._population is not None:
            self._population.drop([trial_id])
        attempt = self._attempts.pop(trial_id, None)
        if attempt is not None:
            self._reports = None
            attempt.end(None)

    def stop(self) -> None:
        """End all trials that are not over; their attempts end as "stopped"."""
        for trial_id in tuple(self.trials):
            self.drop(trial_id)
        self._turns, self._population = [], None

    def _epoch(self, turn: Sequence[str]) -> Messages:
        try:
            with captured(_EveryLog([self._attempts[trial_id] for trial_id in turn])):
                population = self._population or self._begin(turn)
                self._population = population
                reports = population.step()
        except Exception as error:  # the one place where a failure becomes a result
            messages = self._after(error, turn)
            clear_frames(error)
            return messages
        messages = self._messages(reports)
        if not population.members:
            for trial_id in turn:
                if trial_id in self._attempts:
                    ended = self._attempts[trial_id].complete()
                    messages.setdefault(trial_id, []).append(self._end(trial_id, ended))
        return messages

    def _begin(self, turn: Sequence[str]) -> "Population":
        from podium.trainables.population.run_population import Population  # loads torch

        jobs = {trial_id: self._attempts[trial_id].job for trial_id in turn}
        for trial_id in turn:
            self._attempts[trial_id].begin(len(turn))
        limit_memory(next(iter(jobs.values())).demand.whole.gpus)
        return Population({trial_id: job.settings for trial_id, job in jobs.items()})

    def _messages(self, reports: Mapping[str, "MemberReport"]) -> Messages:
        messages: Messages = {}
        for trial_id, report in reports.items():
            attempt = self._attempts[trial_id]
            if isinstance(report, Exception):
                messages[trial_id] = [self._end(trial_id, attempt.failed(report))]
            elif self._to_skip[trial_id]:
                self._to_skip[trial_id] -= 1
            else:
                messages[trial_id] = attempt.take(report)
        return messages

    def _after(self, error: Exception, turn: Sequence[str]) -> Messages:
        cause = cause_of(error)
        self._population = None
        if cause in _OF_NO_MEMBER or len(turn) == 1:
            return {
                trial_id: [self._end(trial_id, self._attempts[trial_id].failed(error))]
                for trial_id in turn
            }
        clear_frames(error)
        if cause in _OF_MEMORY:
            release_memory()
        middle = len(turn) // 2
        self._turns[:1] = [list(turn[:middle]), list(turn[middle:])]
        self._to_skip = {
            trial_id: attempt.num_reports for trial_id, attempt in self._attempts.items()
        }
        return {}

    def _end(self, trial_id: str, ended: Ended) -> Ended:
        self._attempts.pop(trial_id).end(ended)
        self._reports = None
        # After anything else the device may be faulty: using it would raise, and lose the message.
        if ended.cause in _OF_MEMORY:
            release_memory()
        return ended


class _EveryLog(io.TextIOBase):
    """What a population says concerns all its members."""

    def __init__(self, attempts: Sequence[WorkerAttempt]) -> None:
        self._attempts = attempts

    def write(self, text: str) -> int:
        for attempt in self._attempts:
            attempt.log.write(text)
        return len(text)
