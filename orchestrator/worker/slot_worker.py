"""What a worker slot runs: one trial, or the members of one population."""

from collections.abc import Collection, Sequence

from podium.orchestrator.trials.specification import TrialJob
from podium.orchestrator.worker.population_worker import Messages, PopulationWorker
from podium.orchestrator.worker.worker import TrialFunction, TrialWorker, train


class SlotWorker:
    """`start` jobs, then `step` until no trial is left; `drop` those that the scheduler ends.

    Args:
        trial: runs a trial alone.
        gathers: whether epochs between two rungs are gathered as long as jobs say before they are
            reported, or each is.
    """

    def __init__(self, trial: TrialFunction = train, gathers: bool = False) -> None:
        self._single = TrialWorker(trial, gathers=gathers)
        self._population = PopulationWorker(gathers=gathers)
        self._alone: str | None = None  # id of a trial that is run alone

    @property
    def trials(self) -> Collection[str]:
        """Ids of the trials that are not over."""
        return (self._alone,) if self._alone is not None else self._population.members

    def start(self, jobs: Sequence[TrialJob]) -> None:
        """Take on the jobs of a slot; a single one is run alone."""
        self.stop()
        if len(jobs) > 1:
            self._population.start(jobs)
            return
        self._single.start(jobs[0])
        self._alone = jobs[0].trial_id

    def step(self) -> Messages:
        """Run until the scheduler has to decide; returns the messages of each trial."""
        if self._alone is None:
            return self._population.step()
        messages = {self._alone: self._single.step()}
        if self._single.is_over:
            self._alone = None
        return messages

    def drop(self, trial_id: str) -> None:
        """End a trial that the scheduler does not continue; nothing if it is over."""
        if trial_id == self._alone:
            self._single.stop()
            self._alone = None
        self._population.drop(trial_id)

    def stop(self) -> None:
        """End all trials that are not over; their attempts end as "stopped"."""
        for trial_id in tuple(self.trials):
            self.drop(trial_id)
        self._population.stop()
