"""Between Ray Tune, which asks for trials and tells of them, and the director."""

import time
from collections import deque
from dataclasses import dataclass
from typing import Any

# isort: off
import orchestrator.executors.ray_environment  # noqa: F401 - Ray reads it when it is imported
import ray

# isort: on
from ray.tune.experiment import Trial

from orchestrator.executors.ray_cluster_watch import ClusterWatch, NodeState
from orchestrator.executors.ray_failures import address_in, cannot_start, loss_of
from orchestrator.results.errors import PodiumError
from orchestrator.scheduling.executor_interface import ClusterGoneError, Loss, NoJob, Scheduler
from orchestrator.trials.trial_spec import TrialJob

__all__ = ["ClusterGone", "Line"]

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
class _Given:
    """A job in Tune's hands.

    Attributes:
        starts: how often it was given to a process.
        process: that is to have it next, as Tune knows it; None while it waits for a place.
        assigned: since when.
        loss: as what it is lost once its process is dead, which was told to die.
    """

    job: TrialJob
    starts: int
    trial: Trial | None = None
    controller: Any = None
    process: Any = None
    assigned: float = 0.0
    has_begun: bool = False
    loss: Loss | None = None


@dataclass(frozen=True, slots=True)
class _Dead:
    """A trial whose process died; whether its node died with it shows a moment later."""

    trial_id: str
    loss: Loss
    address: str
    since: float


class Line:
    """The director, Tune's trials, and what went wrong between them.

    Tune swallows exceptions of searchers and schedulers; here they are kept, and end the run.
    """

    def __init__(self, scheduler: Scheduler, watch: ClusterWatch) -> None:
        self._scheduler, self._watch = scheduler, watch
        self._given: dict[str, _Given] = {}  # by Tune's trial id
        self._again: deque[_Given] = deque()  # their processes ended before they began
        self._dead: list[_Dead] = []
        self._last_error: Exception | None = None
        self._hung_starts = 0  # in a row, of any trials
        self._next_look = 0.0
        self.error: Exception | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Tune writes its stopper into a snapshot at the start and end; nobody restores it."""
        return {}

    @property
    def is_cut(self) -> bool:
        """Whether the run is to end now."""
        if self._watch.gone is not None:
            self._watch.leave()
            raise ClusterGone(self._watch.gone)
        return self.error is not None or self._scheduler.is_stopping

    def fail(self, error: Exception) -> None:
        """End the run with the first of the errors."""
        self.error = self.error or error

    def note(self, error: Exception) -> None:
        """What ended an actor; Tune tells next which trial it ran."""
        self._last_error = error

    def suggest(self, tune_id: str) -> TrialJob | NoJob:
        """A job for Tune."""
        self.look_after_trials()  # where nothing runs, Tune asks nothing else
        if self._again:
            given = self._again.popleft()
        else:
            job = self._scheduler.next_job()
            if isinstance(job, NoJob):
                return job
            given = _Given(job, starts=0)
        given.starts += 1
        self._given[tune_id] = given
        return given.job

    def added(self, controller: Any, trial: Trial) -> None:
        """Tune has made a trial of a job."""
        given = self._given[trial.trial_id]
        given.trial, given.controller = trial, controller

    def first_waiting(self) -> Trial | None:
        """The trial that waits longest, of those for which no process is being started.

        What it gets is the first process that another trial leaves. A trial that has a new one
        coming would take it too, and Tune would end the new one, again and again where trials are
        over sooner than a process has started.
        """
        waiting = (given for given in self._given.values() if _is_pending(given))
        return next((given.trial for given in waiting if _process_of(given) is None), None)

    def started(self, tune_id: str) -> None:
        """A process has the job."""
        given = self._given.get(tune_id)
        if given is not None and not given.has_begun:
            given.has_begun, self._hung_starts = True, 0
            self._scheduler.begun(given.job.trial_id)

    def hear(self, tune_id: str, result: dict[str, Any]) -> bool:
        """Whether the trial goes on after what it said."""
        given = self._given.get(tune_id)
        if given is None or self.is_cut:
            return False
        return self._scheduler.hear(given.job.trial_id, result["messages"])

    def ended(self, tune_id: str, *, failed: bool) -> None:
        """Tune is done with a trial; it may say so twice."""
        given = self._given.pop(tune_id, None)
        if given is None or not failed:
            return
        if given.loss is not None:
            self._scheduler.lose(given.job.trial_id, given.loss)
        elif given.has_begun or given.starts == _MAX_STARTS:
            self._lose(given.job.trial_id)
        else:
            self._start_again(given)

    def look_after_trials(self) -> None:
        """Once a second: kill what is overdue, and say why the dead died."""
        now = time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + _LOOK_SECONDS
        self._dead = [dead for dead in self._dead if not self._is_judged(dead, now)]
        overdue = self._scheduler.overdue()
        for tune_id, given in list(self._given.items()):
            hangs = _hangs(given, now)
            loss = overdue.get(given.job.trial_id) or hangs
            if loss is not None and given.loss is None:
                self._kill(tune_id, given, loss)
                self._hung_starts += hangs is not None
        self._give_up_starting()

    def _lose(self, trial_id: str) -> None:
        loss, address = loss_of(self._last_error), address_in(self._last_error)
        if loss.cause == "lost_worker" and address is not None:
            self._dead.append(_Dead(trial_id, loss, address, time.monotonic()))
        else:
            self._scheduler.lose(trial_id, loss)

    def _is_judged(self, dead: _Dead, now: float) -> bool:
        """A machine without power looks first as if a process had died."""
        if now < dead.since + _LOOK_SECONDS:
            return False
        state = self._watch.state_of(dead.address)
        if state == "silent" and now < dead.since + _VERDICT_SECONDS:
            return False
        self._scheduler.lose(dead.trial_id, _with_node(dead, state))
        return True

    def _start_again(self, given: _Given) -> None:
        """The trial is not to blame for a process that ended before it got the job."""
        problem = cannot_start(self._last_error)
        if problem is not None:
            raise PodiumError(f"workers cannot start: {problem}")
        self._again.append(_Given(given.job, starts=given.starts))

    def _give_up_starting(self) -> None:
        """Where nothing runs, and process after process hangs, waiting helps nobody."""
        runs = any(given.has_begun for given in self._given.values())
        if self._hung_starts >= _MAX_STARTS and not runs:
            self.fail(
                ClusterGoneError(
                    f"no trial starts: {self._hung_starts} processes in a row hung before theirs "
                    "began, and no other runs. Ray's logs of them (worker-*.err) may say where. "
                    "Mend that, and give the same command."
                )
            )

    def _kill(self, tune_id: str, given: _Given, loss: Loss) -> None:
        if given.trial is None:
            return
        process = _process_of(given)
        if process is not None:
            given.loss = loss
            ray.kill(_actor_of(given, process))  # as of any death Tune hears, and calls `ended`
            return
        # It still waits for a place.
        del self._given[tune_id]
        given.controller.stop_trial(given.trial)
        if given.trial in given.controller._staged_trials:
            # Else Tune goes on keeping an actor for it.
            given.controller._unstage_trial_with_resources(given.trial)
        self._scheduler.lose(given.job.trial_id, loss)


def _with_node(dead: _Dead, state: NodeState) -> Loss:
    if state in ("alive", "unknown"):
        return dead.loss
    if state == "preempted":
        return Loss(cause="preempted", message=f"{dead.address} was taken away with notice")
    return Loss(cause="lost_node", message=f"the node {dead.address} died")


def _is_pending(given: _Given) -> bool:
    return given.trial is not None and given.trial.status == Trial.PENDING


def _process_of(given: _Given) -> Any:
    """What Tune keeps for a process on a place that it has; None while the trial waits for one.

    Tune asks for the process once the place is there, and tells the trial once it has started.
    """
    process = given.controller._trial_to_actor.get(given.trial)
    return process if process in _live(given) else None


def _actor_of(given: _Given, process: Any) -> Any:
    return _live(given)[process][0]


def _live(given: _Given) -> Any:
    return given.controller._actor_manager._live_actors_to_ray_actors_resources


def _hangs(given: _Given, now: float) -> Loss | None:
    """A process that does not start, or keeps to its last trial; its node need not be dead."""
    if given.has_begun or given.trial is None:
        return None
    process = _process_of(given)
    if process is not given.process:
        given.process, given.assigned = process, now
    is_used = given.trial.temporary_state.ray_actor is not None
    limit = _CHANGE_SECONDS if is_used else _START_SECONDS
    if process is None or now - given.assigned < limit:
        return None
    what = "let go of the trial before it" if is_used else "start"
    return Loss(cause="stuck", message=f"its process did not {what} for {limit:g} seconds")
