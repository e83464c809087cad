"""The parts of a Ray Tune run that podium brings: each passes on to the `Line`."""

from typing import Any

# isort: off
import orchestrator.executors.ray_environment  # noqa: F401 - Ray reads it when it is imported

# isort: on
from ray import tune
from ray.tune.experiment import Trial
from ray.tune.schedulers import FIFOScheduler, TrialScheduler
from ray.tune.search import Searcher

from orchestrator.executors.tune_bridge import Line
from orchestrator.results.errors import StoreError
from orchestrator.scheduling.executor_interface import NoJob

__all__ = ["LineCallback", "LineScheduler", "LineSearcher", "LineStopper"]


class LineSearcher(Searcher):
    """Asks for trials."""

    def __init__(self, line: Line) -> None:
        super().__init__(metric=None, mode=None)
        self._line = line

    def suggest(self, trial_id: str) -> Any:
        """A config with a job in it; None if there is none now."""
        if self._line.is_cut:
            return str(Searcher.FINISHED)
        try:
            job = self._line.suggest(trial_id)
        except Exception as error:  # Tune would swallow it
            self._line.fail(error)
            return str(Searcher.FINISHED)
        if isinstance(job, NoJob):
            return str(Searcher.FINISHED) if job is NoJob.FINISHED else None
        return {"job": job}

    def on_trial_complete(
        self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False
    ) -> None:
        """Tune is done with a trial."""
        try:
            self._line.ended(trial_id, failed=error)
        except Exception as failure:  # Tune would swallow it
            self._line.fail(failure)

    def save(self, checkpoint_path: str) -> None:
        """Nothing to save: the results store is the truth."""

    def restore(self, checkpoint_path: str) -> None:
        """Never."""
        raise StoreError("a Tune experiment is never restored: run the study again instead")


class LineScheduler(FIFOScheduler):
    """Hears what trials say, and stops them."""

    def __init__(self, line: Line) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._line = line

    def on_trial_add(self, controller: Any, trial: Trial) -> None:
        """A trial waits for a place from now on."""
        self._line.added(controller, trial)

    def choose_trial_to_run(self, tune_controller: Any) -> Trial | None:
        """One that waits; Tune's own looks at every trial that there ever was."""
        return self._line.first_waiting()

    def on_trial_result(self, controller: Any, trial: Trial, result: dict[str, Any]) -> str:
        """Whether the trial goes on."""
        try:
            goes_on = self._line.hear(trial.trial_id, result)
        except Exception as error:  # Tune would swallow it
            self._line.fail(error)
            goes_on = False
        return str(TrialScheduler.CONTINUE if goes_on else TrialScheduler.STOP)


class LineStopper(tune.Stopper):
    """Asked in every iteration of Tune's loop, ten times a second if nothing happens."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        """Never: the scheduler decides."""
        return False

    def stop_all(self) -> bool:
        """Whether the run ends here."""
        try:
            self._line.look_after_trials()
        except Exception as error:  # Tune would end its run in the middle
            self._line.fail(error)
        return self._line.is_cut


class LineCallback(tune.Callback):
    """Hears when trials start, and keeps Tune from keeping what they said."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def on_trial_start(self, iteration: int, trials: list[Trial], trial: Trial, **_: Any) -> None:
        """A process has the job, a new one or a used one."""
        self._line.started(trial.trial_id)

    def on_trial_result(
        self, iteration: int, trials: list[Trial], trial: Trial, result: dict[str, Any], **_: Any
    ) -> None:
        """Tune keeps every trial's last result for ever: the messages have been heard by then."""
        result.pop("messages", None)

    def on_trial_complete(
        self, iteration: int, trials: list[Trial], trial: Trial, **_: Any
    ) -> None:
        """The trial ended."""
        _forget(trial)

    def on_trial_error(self, iteration: int, trials: list[Trial], trial: Trial, **_: Any) -> None:
        """The trial's process died."""
        _forget(trial)


def _forget(trial: Trial) -> None:
    """Tune keeps all of every trial until its run ends: some 40 kB, that nobody reads again.

    What it asked of the worker at the start it would fetch now, where there was no result: of a
    worker that was killed for memory that raises, and ends the run.
    """
    trial._default_result_or_future = None
    trial.config = {}
    trial.evaluated_params = {}
    metadata = trial.run_metadata
    metadata.last_result = {}
    metadata.metric_analysis = {}
    metadata.metric_n_steps = {}
