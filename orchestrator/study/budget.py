"""What a study's budget leaves: trials for each search, and hours for the whole study."""

from dataclasses import replace

from orchestrator.results.records.runs import HOURS
from orchestrator.study.blocks import (
    NUM_FINALISTS,
    blocks,
    num_baseline_runs,
    num_final_runs,
    searches,
)
from orchestrator.study.study import BudgetSettings, Study

__all__ = [
    "SECONDS_PER_HOUR",
    "has_hours",
    "num_reserved",
    "trials_per_search",
    "with_own_trials",
]

SECONDS_PER_HOUR = 3600.0


def num_reserved(study: Study) -> int:
    """Trials of the final stage, if no default wins its search, and of its baselines."""
    searched = searches(study)
    finals = sum(NUM_FINALISTS * num_final_runs(study, search) for search in searched)
    return finals + len(blocks(study)) * num_baseline_runs(study, searched[0])


def trials_per_search(study: Study) -> int:
    """What every search may train: ``search.trials``, or its share of ``budget.trials``.

    A share does not grow where another search ends early: tables would depend on which.
    """
    if study.budget.trials is None:
        return study.search.trials
    share = (study.budget.trials - num_reserved(study)) // len(searches(study))
    return max(1, min(study.search.trials, share))


def with_own_trials(study: Study) -> Study:
    """The study whose ``search.trials`` is what its budget leaves each search."""
    return replace(study, search=replace(study.search, trials=trials_per_search(study)))


def has_hours(budget: BudgetSettings) -> bool:
    """Whether any limit is one of time."""
    return any(getattr(budget, name) is not None for name in HOURS)
