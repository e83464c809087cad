"""What a study's budget means for its searches, before anything runs."""

from collections.abc import Iterable
from dataclasses import dataclass

from orchestrator.study.budget import SECONDS_PER_HOUR
from orchestrator.study.resource_demand import demand_of
from orchestrator.study.study import BudgetSettings, Search, Study

__all__ = ["BudgetPlan", "EpochCost", "Needed", "budget_plan"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochCost:
    """Seconds of an epoch over trials so far, evaluation included.

    Attributes:
        low: a tenth of the trials took less.
        median: half of them.
        high: a tenth of them took more.
        trials: how many there are.
    """

    low: float
    median: float
    high: float
    trials: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """Hours that all planned epochs take at what epochs cost so far.

    Attributes:
        low: by the fastest tenth of the trials.
        median: by half of them.
        high: by the slowest tenth.
        finals: of the median, those of the final stage.
    """

    low: float
    median: float
    high: float
    finals: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetPlan:
    """A budget against what is planned.

    Attributes:
        limits: of the study.
        wanted_trials: ``search.trials``.
        trials_per_search: what is left of them by a budget of trials.
        num_searches: that share it.
        gpu_hours: needed; None if not known, or no GPU is asked for.
        slot_hours: needed, were all trials run one after the other; None if not known.
    """

    limits: BudgetSettings
    wanted_trials: int
    trials_per_search: int
    num_searches: int
    gpu_hours: Needed | None
    slot_hours: Needed | None

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
    """Hold the budget of ``study`` against its epochs.

    Args:
        study: as it was given.
        epochs: search, its epochs at most, and those of its final stage.
        trials_per_search: that these are of.
        cost: of an epoch in earlier results.
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


def _needed(epochs: Iterable[tuple[float, float]], cost: EpochCost | None) -> Needed | None:
    if cost is None:
        return None
    pairs = list(epochs)
    total, finals = (sum(column) / SECONDS_PER_HOUR for column in zip(*pairs, strict=True))
    return Needed(
        low=total * cost.low,
        median=total * cost.median,
        high=total * cost.high,
        finals=finals * cost.median,
    )
