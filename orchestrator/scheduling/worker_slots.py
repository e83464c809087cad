"""Finds room for trials beside those that run; who was next and did not fit stays next."""

from collections.abc import Callable, Sequence

from orchestrator.results.records.attempts import Attempt, read_attempts_at
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.scheduling.running_trial import RunningTrial
from orchestrator.study.resource_demand import Capacity, Demand, demand_of, least_demand
from orchestrator.study.study import Study
from orchestrator.trials.retries import demand_of_next
from orchestrator.trials.trial_history import TrialHistory
from orchestrator.trials.trial_spec import TrialSpec

__all__ = ["Placing"]


class Placing:
    """The one line in which trials wait for room.

    Attributes:
        num_places: how many trials there was room for when it was last counted. More may be asked
            for, so that a cluster grows.
        num_handed_out: tries that found room so far.
    """

    def __init__(self, study: Study, paths: StudyPaths, objective: str) -> None:
        self._study = study
        self._objective = objective
        self._paths = paths
        self._least = least_demand(study)
        self._held: tuple[TrialSpec, tuple[Attempt, ...]] | None = None
        self.num_places = 1
        self.num_handed_out = 0

    def count(self, capacity: Capacity) -> int:
        """How many trials there is room for in all."""
        self.num_places = capacity.num_fitting(self._least)
        return self.num_places

    def next(
        self,
        take: Callable[[], TrialSpec | None],
        capacity: Capacity,
        running: Sequence[RunningTrial],
    ) -> RunningTrial | None:
        """The next trial if there is room for it.

        What needs more room than there is keeps its place, and the room that comes free is kept
        for it: nothing smaller overtakes it. Nor once it was handed out: free room in pieces, on
        several GPUs or nodes, would be filled again and again before it is in one piece.

        Args:
            take: gives the next trial; asked only if something could fit.
            capacity: what there is now.
            running: those that were handed out. The only trial always fits.
        """
        self.count(capacity)
        if any(entry.begun is None and entry.is_alone for entry in running):
            return None
        occupied = [entry.demand for entry in running]
        if self._held is None and _fits(self._least, capacity, occupied):
            spec = take()
            if spec is not None:
                self._held = spec, read_attempts_at(self._paths, spec.trial_id)
        if self._held is None:
            return None
        spec, earlier = self._held
        usual = demand_of(self._study, spec.search.block)
        demand = demand_of_next(earlier, usual, capacity)
        if not _fits(demand, capacity, occupied):
            return None
        self._held = None
        self.num_handed_out += 1
        return RunningTrial(
            spec=spec,
            history=TrialHistory(self._study.ks[0], self._objective),
            demand=demand,
            is_alone=demand != usual,
            serial=self.num_handed_out,
            earlier=earlier,
        )


def _fits(demand: Demand, capacity: Capacity, running: Sequence[Demand]) -> bool:
    return not running or capacity.fits([*running, demand])
