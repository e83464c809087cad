"""What a study's search budget allows, before anything runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.planning.study_hours import BlockHours, NeededHours, total
from orchestrator.study.resource_demand import demand_of
from orchestrator.study.study import BudgetSettings, Study


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetPlan:
    """A budget compared with what is planned.

    Attributes:
        limits: budget of the study.
        wanted_trials: ``search.trials`` of the study file.
        trials_per_search: number of trials that a budget of trials leaves each search.
        num_searches: number of searches that share the budget.
        gpu_hours: GPU-hours needed; None if not known, or no GPU is requested.
        slot_hours: hours needed if trials run one after the other; None if not known.
    """

    limits: BudgetSettings
    wanted_trials: int
    trials_per_search: int
    num_searches: int
    gpu_hours: NeededHours | None
    slot_hours: NeededHours | None

    @property
    def is_cut(self) -> bool:
        """Whether searches have fewer trials than the study asks for."""
        return self.trials_per_search < self.wanted_trials


def budget_plan(
    study: Study, trials_per_search: int, num_searches: int, hours: Sequence[BlockHours]
) -> BudgetPlan:
    """Compare the budget of ``study`` with its hours.

    Args:
        study: the study as it was given, before its budget of trials is applied.
        trials_per_search: number of trials of each search in these hours.
        num_searches: number of its searches.
        hours: hours of each block; empty if they are not known.
    """
    gpus = {of.block: demand_of(study, of.block).gpus for of in hours}
    on_gpus = [of.hours.times(gpus[of.block]) for of in hours]
    return BudgetPlan(
        limits=study.budget,
        wanted_trials=study.search.trials,
        trials_per_search=trials_per_search,
        num_searches=num_searches,
        gpu_hours=total(on_gpus) if any(gpus.values()) else None,
        slot_hours=total([of.hours for of in hours]) if hours else None,
    )
