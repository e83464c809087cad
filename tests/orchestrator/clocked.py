"""An executor of several worker slots in simulated time: a test says how long trials take."""

from collections.abc import Callable

from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.scheduling.executor_interface import NoJob, Scheduler
from podium.orchestrator.study.resource_demand import Capacity
from podium.trainables.settings.trial_settings import TrialSettings
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.trial_worker import TrialWorker

_TICK_SECONDS = 1.0


class Clock:
    def __init__(self, seconds: float = 100.0) -> None:
        self.seconds = seconds

    def __call__(self) -> float:
        return self.seconds


class ClockedExecutor(InProcessExecutor):
    """Asks every second which trials have to be killed, as executors do.

    Args:
        clock: that it advances.
        step_seconds: how long each step of a trial with these settings takes.
        capacity: what there is.
        stop_at: seconds after which it stops the scheduler.
        watch: called every second.
    """

    def __init__(
        self,
        clock: Clock,
        step_seconds: Callable[[TrialSettings], float],
        capacity: Capacity,
        stop_at: float | None = None,
        watch: Callable[[Scheduler], object] = lambda scheduler: None,
    ) -> None:
        super().__init__(simulated_trial)
        self.clock = clock
        self.step_seconds = step_seconds
        self.there = capacity
        self.stop_at = stop_at
        self.watch = watch
        self.busy_seconds = 0.0

    def capacity(self) -> Capacity:
        return self.there

    def run(self, scheduler: Scheduler) -> None:
        workers: dict[str, TrialWorker] = {}
        due: dict[str, float] = {}
        lasts: dict[str, float] = {}
        while not scheduler.is_stopping:
            while not isinstance(job := scheduler.next_job(self.there), NoJob):
                workers[job.trial_id] = TrialWorker(self._trial)
                workers[job.trial_id].start(job)
                scheduler.trials_started([job.trial_id])
                lasts[job.trial_id] = self.step_seconds(job.settings)
                due[job.trial_id] = self.clock.seconds + lasts[job.trial_id]
            if not workers:
                assert scheduler.is_stopping or job is NoJob.FINISHED
                return
            self._until(min(due.values()), scheduler, len(workers))
            for trial_id in [name for name, at in due.items() if at <= self.clock.seconds]:
                if scheduler.is_stopping:
                    break
                due[trial_id] += lasts[trial_id]
                if not scheduler.receive(trial_id, workers[trial_id].step()):
                    workers.pop(trial_id).stop()
                    del due[trial_id]

    def _until(self, moment: float, scheduler: Scheduler, num_running: int) -> None:
        while self.clock.seconds < moment and not scheduler.is_stopping:
            step = min(_TICK_SECONDS, moment - self.clock.seconds)
            self.clock.seconds += step
            self.busy_seconds += step * num_running
            if self.stop_at is not None and self.clock.seconds >= self.stop_at:
                scheduler.stop()
            self.watch(scheduler)
            assert not scheduler.trials_to_kill(self.there)
