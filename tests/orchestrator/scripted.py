"""An executor whose workers die on cue: the scheduler's interface without Ray."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.results.records.journal import read_attempts
from podium.orchestrator.results.records.journal_records import Attempt
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.run.run_study import RunEnd
from podium.orchestrator.scheduling.executor_interface import Loss, NoJob, Scheduler
from podium.orchestrator.study.resource_demand import Capacity
from podium.orchestrator.study.study import FinalSettings, ResourceSettings
from podium.orchestrator.trials.specification import TrialJob
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.small_study import rows, run_here, tables, with_search
from tests.orchestrator.trial_worker import TrialWorker

ALWAYS = range(1_000)

BEFORE_IT_BEGINS = -1  # as the number of a step

Fate = Callable[[TrialJob, int], Loss | None]

# 2 losses x (2 search trials, 1 final of each config), and the untrained network.
TINY = replace(
    with_search(trials=2),
    name="tiny",
    embedding_dims=(8,),
    final=FinalSettings(seeds=1),
)


def run_tiny(storage: Path, executor: "ScriptedExecutor", **resources) -> RunEnd:
    study = replace(TINY, resources=ResourceSettings(**resources))
    return run_here(study, storage, executor)


def undisturbed_tables(storage: Path) -> pl.DataFrame:
    end = run_tiny(storage, ScriptedExecutor())
    assert (end.progress.failed, end.progress.retries) == (0, None)
    return tables(storage, TINY)


def failed(storage: Path) -> pl.DataFrame:
    return rows(storage, TINY).filter(pl.col("state") == "FAILED")


def attempts_at(storage: Path, trial_id: str) -> tuple[Attempt, ...]:
    found = read_attempts(StudyPaths(storage / TINY.name))
    return tuple(attempt for attempt in found if attempt.trial_id == trial_id)


def any_trial(job: TrialJob) -> bool:
    return True


def is_of_search(job: TrialJob) -> bool:
    return not job.settings.evaluate_test


def is_default(job: TrialJob) -> bool:
    """A trial of the first search; the first of all is one."""
    return job.settings.loss == "contrastive" and is_of_search(job)


def lost(cause: str) -> Loss:
    return Loss(cause=cause, message=f"told as {cause}")


def lost_at(cause: str, step: int, *, attempts: range, which: Callable[[TrialJob], bool]) -> Fate:
    """These attempts at those trials are lost before that step (the first is 0)."""

    def fate(job: TrialJob, now: int) -> Loss | None:
        is_due = now == step and job.attempt in attempts and which(job)
        return lost(cause) if is_due else None

    return fate


class ScriptedExecutor(InProcessExecutor):
    """Runs as many real workers as the scheduler hands out, a step of each in turn.

    Args:
        fate: asked before each step of a worker; a loss kills it there, without a word.
        capacity: what there is.
        trial: what runs a trial.
        at_step: called before each step with the scheduler and the jobs that run.
        begins: whether a job that was handed out gets its worker by now.
        kills: whether it asks for trials that must be killed.
    """

    def __init__(
        self,
        fate: Fate = lambda job, step: None,
        capacity: Capacity | None = None,
        trial=simulated_trial,
        at_step: Callable[[Scheduler, list[TrialJob]], None] = lambda scheduler, jobs: None,
        begins: Callable[[TrialJob], bool] = lambda job: True,
        *,
        kills: bool = True,
    ) -> None:
        super().__init__(trial)
        self._fate = fate
        self._capacity = capacity or Capacity(cpus=1.0, gpus=0.0)
        self._at_step = at_step
        self._begins = begins
        self._kills = kills
        self.jobs: list[TrialJob] = []
        self.together: list[list[TrialJob]] = []

    def capacity(self) -> Capacity:
        return self._capacity

    def set_capacity(self, capacity: Capacity) -> None:
        self._capacity = capacity

    def run(self, scheduler: Scheduler) -> None:
        running: dict[str, _Slot] = {}
        while not scheduler.is_stopping:
            while isinstance(job := scheduler.next_job(self.capacity()), TrialJob):
                assert job.trial_id not in running, "a trial runs once at a time"
                self.jobs.append(job)
                running[job.trial_id] = _Slot(job, TrialWorker(self._trial))
            if not running:
                assert job is NoJob.FINISHED
                return
            self.together.append([slot.job for slot in running.values()])
            for slot in list(running.values()):
                self._at_step(scheduler, [other.job for other in running.values()])
                if scheduler.is_stopping:
                    return
                if not self._lives(scheduler, slot):
                    del running[slot.job.trial_id]

    def _lives(self, scheduler: Scheduler, slot: "_Slot") -> bool:
        """Whether the trial goes on after one more step."""
        job = slot.job
        loss = scheduler.trials_to_kill(self.capacity()).get(job.trial_id) if self._kills else None
        loss = loss or self._fate(job, slot.step)
        if loss is not None:
            scheduler.trial_lost(job.trial_id, loss)
            return False
        if slot.step == BEFORE_IT_BEGINS:
            if self._begins(job):
                slot.step = 0
                scheduler.trials_started([job.trial_id])
                slot.worker.start(job)
            return True
        slot.step += 1
        if scheduler.receive(job.trial_id, slot.worker.step()):
            return True
        slot.worker.stop()
        return False


@dataclass(slots=True)
class _Slot:
    job: TrialJob
    worker: TrialWorker
    step: int = BEFORE_IT_BEGINS
