"""Searcher, scheduler, stopper and callback of a Ray Tune run, which call the `TuneBridge`."""

import signal
import threading
from typing import Any

from ray import tune
from ray.tune.experiment import Trial
from ray.tune.schedulers import FIFOScheduler, TrialScheduler
from ray.tune.search import Searcher

from podium.errors import StoreError
from podium.orchestrator.executors.job_groups import Group
from podium.orchestrator.executors.tune_bridge import TuneBridge
from podium.orchestrator.scheduling.executor_interface import NoJob


class BridgeSearcher(Searcher):
    """Gives Tune the jobs of the study."""

    def __init__(self, bridge: TuneBridge) -> None:
        super().__init__(metric=None, mode=None)
        self._bridge = bridge

    def suggest(self, trial_id: str) -> Any:
        """A config with the jobs of a slot in it; None if there are none now."""
        jobs: Group | NoJob = NoJob.FINISHED
        if not self._bridge.is_ending:
            jobs = self._bridge.kept(lambda: self._bridge.suggest(trial_id), jobs)
        if isinstance(jobs, NoJob):
            return str(Searcher.FINISHED) if jobs is NoJob.FINISHED else None
        return {"jobs": jobs}

    def on_trial_complete(
        self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False
    ) -> None:
        """Tune is done with a trial."""
        self._bridge.kept(lambda: self._bridge.ended(trial_id, failed=error), None)

    def save(self, checkpoint_path: str) -> None:
        """Nothing to save: the results store is the truth."""

    def restore(self, checkpoint_path: str) -> None:
        """Never supported."""
        raise StoreError("a Tune experiment is never restored: run the study again instead")


class BridgeScheduler(FIFOScheduler):
    """Passes on the results of trials, and stops them."""

    def __init__(self, bridge: TuneBridge) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._bridge = bridge

    def on_trial_add(self, controller: Any, trial: Trial) -> None:
        """A trial waits for a worker slot from now on."""
        self._bridge.added(controller, trial)

    def choose_trial_to_run(self, tune_controller: Any) -> Trial | None:
        """The trial that waits longest; Tune's own choice looks at every trial there ever was."""
        return self._bridge.first_waiting()

    def on_trial_result(self, controller: Any, trial: Trial, result: dict[str, Any]) -> str:
        """Whether the trial continues."""
        continues = self._bridge.kept(lambda: self._bridge.receive(trial.trial_id, result), False)
        return str(TrialScheduler.CONTINUE if continues else TrialScheduler.STOP)


class BridgeStopper(tune.Stopper):
    """Called in every iteration of Tune's loop, ten times a second if nothing happens."""

    def __init__(self, bridge: TuneBridge) -> None:
        self._bridge = bridge

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        """Never: the scheduler decides."""
        return False

    def stop_all(self) -> bool:
        """Whether the run ends here."""
        self._bridge.kept(self._bridge.check_trials, None)
        return self._bridge.is_ending


class BridgeCallback(tune.Callback):
    """Passes on when trials start, and keeps Tune from keeping their results, and SIGUSR1.

    Tune replaces the handler of that signal, and ends its run at it; the study would then seem to
    be finished. Make this just before the run: it restores the handler that is set then.
    """

    def __init__(self, bridge: TuneBridge) -> None:
        self._bridge = bridge
        self._handler = signal.getsignal(signal.SIGUSR1)

    def setup(self, *_: Any, **__: Any) -> None:
        """Tune calls this after it took the signal and before the first trial."""
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGUSR1, self._handler)

    def on_trial_start(self, iteration: int, trials: list[Trial], trial: Trial, **_: Any) -> None:
        """A process has the job, a new one or a used one."""
        self._bridge.kept(lambda: self._bridge.started(trial.trial_id), None)

    def on_trial_result(
        self, iteration: int, trials: list[Trial], trial: Trial, result: dict[str, Any], **_: Any
    ) -> None:
        """Drop the messages, which were read before: Tune keeps every trial's last result."""
        result.pop("told", None)

    def on_trial_complete(
        self, iteration: int, trials: list[Trial], trial: Trial, **_: Any
    ) -> None:
        """Drop what Tune keeps of every trial until its run ends: some 40 kB that nobody reads.

        Without a result, Tune would also fetch now what it requested from the worker at the start:
        for a worker that was killed for memory that raises, and ends the run.
        """
        trial._default_result_or_future = None
        trial.config = {}
        trial.evaluated_params = {}
        metadata = trial.run_metadata
        metadata.last_result = {}
        metadata.metric_analysis = {}
        metadata.metric_n_steps = {}

    on_trial_error = on_trial_complete  # the trial's process died
