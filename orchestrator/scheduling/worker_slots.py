"""Assigns worker slots to trials; a trial that was next and did not fit stays next."""

from collections import Counter
from collections.abc import Callable, Mapping

from podium.orchestrator.scheduling.running_trial import Earlier, RunningTrial, RunningTrials
from podium.orchestrator.study.resource_demand import Capacity, Demand, demand_of
from podium.orchestrator.study.study import Study
from podium.orchestrator.trials.history import TrialHistory
from podium.orchestrator.trials.retries import demand_of_next_attempt
from podium.orchestrator.trials.specification import TrialSpec
from podium.trainables.settings.population_agreement import why_alone


class WorkerSlots:
    """The worker slots of a study, and the one trial that waits for a slot.

    ``earlier`` has the attempts at each trial that has some and no row.

    Attributes:
        num_handed_out: number of attempts that got a slot so far.
    """

    def __init__(self, study: Study, earlier: Mapping[str, Earlier], objective: str) -> None:
        self._study = study
        self._objective = objective
        self._earlier = earlier
        self._usual = demand_of(study)
        self._least_free = self._usual.part(study.search.population)
        self._waiting: TrialSpec | None = None
        self._counted: tuple[Capacity, int] | None = None
        self.num_handed_out = 0

    def num_in(self, capacity: Capacity) -> int:
        """Number of trials that fit at a time, running ones included.

        More may be requested, so that a cluster grows.
        """
        counted = self._counted
        if counted is None or counted[0] != capacity:  # to count takes long on thousands of nodes
            counted = self._counted = capacity, capacity.num_fitting(self._usual)
        return counted[1]

    def next(
        self,
        next_trial: Callable[[], TrialSpec | None],
        capacity: Capacity,
        running: RunningTrials,
    ) -> RunningTrial | None:
        """The next trial, if it fits; None if it has to wait or there is none.

        A trial that needs more than is free stays next, and what becomes free is kept for it:
        nothing smaller overtakes it. Nor once it was handed out: capacity in pieces, on several
        GPUs or nodes, would be filled again and again before it is in one piece. A trial is asked
        for only if the smallest demand would fit. The only trial always fits.
        """
        if running.wait_for_one_alone:
            return None
        if self._waiting is None and _fits(self._least_free, capacity, running.occupied):
            self._waiting = next_trial()
        spec = self._waiting
        if spec is None:
            return None
        number, earlier = self._earlier.get(spec.trial_id, (0, ()))
        demand = demand_of_next_attempt(earlier, self._usual, capacity, self._members_of(spec))
        if not _fits(demand, capacity, running.occupied):
            return None
        self._waiting = None
        self.num_handed_out += 1
        return RunningTrial(
            spec=spec,
            history=TrialHistory(self._study.ks[0], self._objective),
            demand=demand,
            is_alone=not demand.is_member and demand != self._usual,
            serial=self.num_handed_out,
            attempt=number + 1,
            earlier=earlier,
        )

    def _members_of(self, spec: TrialSpec) -> int:
        """Members of a whole population with the trial; 1 if it cannot be in any."""
        members = self._study.search.population
        is_member = spec.stage == "search" and members > 1 and why_alone(spec.settings) is None
        return members if is_member else 1


def _fits(demand: Demand, capacity: Capacity, occupied: Counter[Demand]) -> bool:
    return not occupied or capacity.fits({**occupied, demand: occupied[demand] + 1})
