"""The bridge between Ray Tune, which requests trials and reports on them, and the scheduler."""

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import ray
from ray.tune.experiment import Trial

from podium.errors import PodiumError
from podium.orchestrator.executors.job_groups import Group, job_groups
from podium.orchestrator.executors.ray_cluster_watch import ClusterWatch, NodeState
from podium.orchestrator.executors.ray_failures import address_in, cannot_start, loss_of
from podium.orchestrator.scheduling.executor_interface import (
    ClusterGoneError,
    Loss,
    NoJob,
    Scheduler,
)
from podium.orchestrator.study.resource_demand import Capacity

T = TypeVar("T")

_LOOK_SECONDS = 1.0
_CHANGE_SECONDS = 60.0  # from one trial to the next in the same process
_START_SECONDS = 600.0  # of a process: a node may have to load all that it needs first
_MAX_STARTS = 5
_VERDICT_SECONDS = 15.0  # how long the head may take to find out that a node is dead


class ClusterGone(BaseException):
    """Leaves Tune at once: what it does at the end of a run needs the cluster."""

    def __init__(self, error: ClusterGoneError) -> None:
        self.error = error


@dataclass(slots=True)
class _TuneTrial:
    """The jobs of one worker slot, which are one trial to Tune.

    Attributes:
        jobs: one job, or those of a population.
        living: ids of the trials that are not over.
        starts: number of processes it was given to.
        trial: Tune's trial; None before Tune has made it.
        controller: Tune's controller of the trial.
        process: the process that is to run it next; None while it waits for a worker slot.
        assigned: time since when it is that process, in seconds of a monotonic clock.
        has_begun: whether a process runs it.
        losses: by trial, the losses to report once its process, which was killed, is dead.
    """

    jobs: Group
    starts: int
    living: set[str]
    trial: Trial | None = None
    controller: Any = None
    process: Any = None
    assigned: float = 0.0
    has_begun: bool = False
    losses: Mapping[str, Loss] | None = None


@dataclass(frozen=True, slots=True)
class _DeadTrial:
    """A trial whose process died; whether its node died with it shows a moment later."""

    trial_id: str
    loss: Loss
    address: str
    since: float


class TuneBridge:
    """Passes jobs from the scheduler to Tune, and reports from Tune to the scheduler.

    Attributes:
        error: the first error, which ends the run; None without one.
    """

    def __init__(
        self, scheduler: Scheduler, watch: ClusterWatch, capacity: Callable[[], Capacity]
    ) -> None:
        self._scheduler, self._watch, self._capacity = scheduler, watch, capacity
        self._groups = job_groups(lambda: scheduler.next_job(capacity()))
        self._trials: dict[str, _TuneTrial] = {}  # by Tune's trial id
        self._restarts: deque[_TuneTrial] = deque()  # their processes ended before they began
        self._dead: list[_DeadTrial] = []
        self._last_error: Exception | None = None
        self._hung_starts = 0  # in a row, of any trials
        self._next_look = 0.0
        self.error: Exception | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Empty: Tune pickles its stopper at the start and end, and it is never restored."""
        return {}

    @property
    def is_ending(self) -> bool:
        """Whether the run is to end now."""
        if self._watch.gone is not None:
            self._watch.leave()
            raise ClusterGone(self._watch.gone)
        return self.error is not None or self._scheduler.is_stopping

    def fail(self, error: Exception) -> None:
        """End the run with the first of the errors."""
        self.error = self.error or error

    def kept(self, call: Callable[[], T], otherwise: T) -> T:
        """What a call gives; an error, which Tune would swallow, ends the run."""
        try:
            return call()
        except Exception as error:
            self.fail(error)
            return otherwise

    def note(self, error: Exception) -> None:
        """Keep the error that ended an actor; Tune reports next which trial it ran."""
        self._last_error = error

    def suggest(self, tune_id: str) -> Group | NoJob:
        """The jobs of Tune's trial of this id, or why there are none."""
        self.check_trials()  # where nothing runs, Tune calls nothing else
        if self._restarts:
            entry = self._restarts.popleft()
        elif self._are_populations_full():
            return NoJob.WAIT
        else:
            jobs = next(self._groups)
            if isinstance(jobs, NoJob):
                return jobs
            entry = _TuneTrial(jobs, starts=0, living={job.trial_id for job in jobs})
        entry.starts += 1
        self._trials[tune_id] = entry
        return entry.jobs

    def _are_populations_full(self) -> bool:
        """Whether populations have every slot: what their members leave becomes large ones.

        Else each member that ends early would be followed by one that waits for a slot alone.
        """
        demands = [entry.jobs[0].demand for entry in self._trials.values()]
        members = [demand for demand in demands if demand.is_member]
        if not members:
            return False
        return len(demands) >= self._capacity().num_fitting(members[0].whole)

    def added(self, controller: Any, trial: Trial) -> None:
        """Tune has made a trial of a job."""
        entry = self._trials[trial.trial_id]
        entry.trial, entry.controller = trial, controller

    def first_waiting(self) -> Trial | None:
        """The trial that waits longest, of those for which no process is being started.

        What it gets is the first process that another trial leaves. A trial that has a new one
        coming would take it too, and Tune would end the new one, again and again where trials are
        over sooner than a process has started.
        """
        for entry in self._trials.values():
            is_pending = entry.trial is not None and entry.trial.status == Trial.PENDING
            if is_pending and _process_of(entry) is None:
                return entry.trial
        return None

    def started(self, tune_id: str) -> None:
        """A process has the job."""
        entry = self._trials.get(tune_id)
        if entry is not None and not entry.has_begun:
            entry.has_begun, self._hung_starts = True, 0
            self._scheduler.trials_started([job.trial_id for job in entry.jobs])

    def receive(self, tune_id: str, result: dict[str, Any]) -> bool:
        """Whether any of the trials continues after the messages in this result."""
        entry = self._trials.get(tune_id)
        if entry is None or self.is_ending:
            return False
        over = [
            trial_id
            for trial_id, messages in result["told"].messages.items()
            if not self._scheduler.receive(trial_id, messages)
        ]
        entry.living.difference_update(over)
        if over and entry.living:  # before the next step, since an actor takes calls in order
            actor: Any = entry.trial and entry.trial.temporary_state.ray_actor
            actor.drop.remote(over)
        return bool(entry.living)

    def ended(self, tune_id: str, *, failed: bool) -> None:
        """Tune is done with a trial; a second call does nothing."""
        entry = self._trials.pop(tune_id, None)
        if entry is None or not failed:
            return
        if entry.losses is not None:
            self._lost(entry.losses)
        elif entry.has_begun or entry.starts == _MAX_STARTS:
            for trial_id in sorted(entry.living):
                self._lose(trial_id)
        else:
            self._start_again(entry)

    def check_trials(self) -> None:
        """Once a second: kill trials past their timeout, and report why lost ones were lost."""
        now = time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + _LOOK_SECONDS
        self._dead = [dead for dead in self._dead if not self._is_reported(dead, now)]
        to_kill = self._scheduler.trials_to_kill(self._capacity())
        for tune_id, entry in list(self._trials.items()):
            hangs = _hangs(entry, now)
            losses = _losses(entry, to_kill, hangs)
            if losses and entry.losses is None:
                self._kill(tune_id, entry, losses)
                self._hung_starts += hangs is not None
        self._give_up_starting()

    def _lose(self, trial_id: str) -> None:
        loss, address = loss_of(self._last_error), address_in(self._last_error)
        if loss.cause == "lost_worker" and address is not None:
            self._dead.append(_DeadTrial(trial_id, loss, address, time.monotonic()))
        else:
            self._scheduler.trial_lost(trial_id, loss)

    def _is_reported(self, dead: _DeadTrial, now: float) -> bool:
        """Report a loss once its cause is certain: a dead node first looks like a dead process."""
        if now < dead.since + _LOOK_SECONDS:
            return False
        state = self._watch.state_of(dead.address)
        if state == "silent" and now < dead.since + _VERDICT_SECONDS:
            return False
        self._scheduler.trial_lost(dead.trial_id, _with_node(dead, state))
        return True

    def _start_again(self, entry: _TuneTrial) -> None:
        """Give the job to another process: the trial is not at fault for one that ended before."""
        problem = cannot_start(self._last_error)
        if problem is not None:
            raise PodiumError(f"workers cannot start: {problem}")
        self._restarts.append(_TuneTrial(entry.jobs, starts=entry.starts, living=entry.living))

    def _give_up_starting(self) -> None:
        """End the run if nothing runs and process after process hangs."""
        runs = any(entry.has_begun for entry in self._trials.values())
        if self._hung_starts >= _MAX_STARTS and not runs:
            self.fail(
                ClusterGoneError(
                    f"no trial starts: {self._hung_starts} processes in a row hung before theirs "
                    "began, and no other runs. Ray's logs of them (worker-*.err) may say where. "
                    "Fix that, then run the same command."
                )
            )

    def _lost(self, losses: Mapping[str, Loss]) -> None:
        for trial_id, loss in losses.items():
            self._scheduler.trial_lost(trial_id, loss)

    def _kill(self, tune_id: str, entry: _TuneTrial, losses: Mapping[str, Loss]) -> None:
        if entry.trial is None:
            return
        process = _process_of(entry)
        if process is not None:
            entry.losses = losses
            ray.kill(_live(entry)[process][0])  # Tune notices the death, and calls `ended`
            return
        # It still waits for a worker slot.
        del self._trials[tune_id]
        entry.controller.stop_trial(entry.trial)
        if entry.trial in entry.controller._staged_trials:
            # Else Tune keeps an actor for it.
            entry.controller._unstage_trial_with_resources(entry.trial)
        self._lost(losses)


def _losses(
    entry: _TuneTrial, to_kill: Mapping[str, Loss], hangs: Loss | None
) -> Mapping[str, Loss]:
    """Why each trial of a slot is lost, if its process has to be killed; else nothing."""
    if hangs is not None:
        return {trial_id: to_kill.get(trial_id, hangs) for trial_id in sorted(entry.living)}
    if entry.living.isdisjoint(to_kill):
        return {}
    beside = Loss(cause="lost_worker", message="it was killed with another of its population")
    return {trial_id: to_kill.get(trial_id, beside) for trial_id in sorted(entry.living)}


def _with_node(dead: _DeadTrial, state: NodeState) -> Loss:
    if state in ("alive", "unknown"):
        return dead.loss
    if state == "preempted":
        return Loss(cause="preempted", message=f"{dead.address} was taken away with notice")
    return Loss(cause="lost_node", message=f"the node {dead.address} died")


def _process_of(entry: _TuneTrial) -> Any:
    """Tune's record of the process in a trial's worker slot; None while it waits for a slot.

    Tune requests the process once the slot is there, and starts the trial once it has started.
    """
    process = entry.controller._trial_to_actor.get(entry.trial)
    return process if process in _live(entry) else None


def _live(entry: _TuneTrial) -> Any:
    return entry.controller._actor_manager._live_actors_to_ray_actors_resources


def _hangs(entry: _TuneTrial, now: float) -> Loss | None:
    """The loss if a process does not start or does not leave its last trial; else None."""
    if entry.has_begun or entry.trial is None:
        return None
    process = _process_of(entry)
    if process is not entry.process:
        entry.process, entry.assigned = process, now
    is_used = entry.trial.temporary_state.ray_actor is not None
    limit = _CHANGE_SECONDS if is_used else _START_SECONDS
    if process is None or now - entry.assigned < limit:
        return None
    what = "leave the trial before it" if is_used else "start"
    return Loss(cause="stuck", message=f"its process did not {what} for {limit:g} seconds")
