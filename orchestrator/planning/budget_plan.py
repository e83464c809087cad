"""What a study's search budget allows, before anything runs."""

from collections.abc import Iterable
from dataclasses import dataclass

from orchestrator.study.budget import SECONDS_PER_HOUR
from orchestrator.study.resource_demand import demand_of
from orchestrator.study.study import BudgetSettings, Search, Study


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochCost:
    """Seconds of an epoch over trials so far, evaluation included.

    Attributes:
        low: 10th percentile.
        median: 50th percentile.
        high: 90th percentile.
        trials: number of trials.
    """

    low: float
    median: float
    high: float
    trials: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededHours:
    """Hours that all planned epochs take at what epochs cost so far.

    Attributes:
        low: hours at the 10th percentile of the cost of an epoch.
        median: hours at its median.
        high: hours at its 90th percentile.
        finals: hours of the final stage alone, at the median.
    """

    low: float
    median: float
    high: float
    finals: float


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
    study: Study,
    epochs: Iterable[tuple[Search, int, int]],
    trials_per_search: int,
    cost: EpochCost | None,
) -> BudgetPlan:
    """Compare the budget of ``study`` with its epochs.

    Args:
        study: the study as it was given, before its budget of trials is applied.
        epochs: (search, its epochs at most, those of its final stage alone).
        trials_per_search: number of trials of each search in these epochs.
        cost: seconds of an epoch in earlier results; None without any.
    """
    of_searches = list(epochs)
    gpus = {search: demand_of(study, search.block).gpus for search, _, _ in of_searches}
    on_gpus = [(gpus[search] * of_all, gpus[search] * of) for search, of_all, of in of_searches]
    return BudgetPlan(
        limits=study.budget,
        wanted_trials=study.search.trials,
        trials_per_search=trials_per_search,
        num_searches=len(of_searches),
        gpu_hours=_needed(on_gpus, cost) if any(gpus.values()) else None,
        slot_hours=_needed([(of_all, of) for _, of_all, of in of_searches], cost),
    )


def _needed(epochs: Iterable[tuple[float, float]], cost: EpochCost | None) -> NeededHours | None:
    if cost is None:
        return None
    pairs = list(epochs)
    total, finals = (sum(column) / SECONDS_PER_HOUR for column in zip(*pairs, strict=True))
    return NeededHours(
        low=total * cost.low,
        median=total * cost.median,
        high=total * cost.high,
        finals=finals * cost.median,
    )
