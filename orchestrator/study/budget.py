"""What a study's budget leaves to each search, in trials, and what it reserves for finals."""

from dataclasses import replace

from podium.orchestrator.results.records.runs import HOURS
from podium.orchestrator.study.blocks import blocks, most_finals, num_baseline_runs, searches
from podium.orchestrator.study.study import BudgetSettings, Study

SECONDS_PER_HOUR = 3600.0


def num_reserved_trials(study: Study) -> int:
    """Upper bound on trials of the final stage and its baselines: no default wins its search."""
    finals = sum(most_finals(study, search) for search in searches(study))
    return finals + sum(num_baseline_runs(study, block) for block in blocks(study))


def trials_per_search(study: Study) -> int:
    """Trials of every search: ``search.trials``, or less if its share of ``budget.trials`` is.

    A share does not grow where another search ends early: tables would depend on which one.
    """
    if study.budget.trials is None:
        return study.search.trials
    share = (study.budget.trials - num_reserved_trials(study)) // len(searches(study))
    return max(1, min(study.search.trials, share))


def with_trials_per_search(study: Study) -> Study:
    """The study with `trials_per_search` as its ``search.trials``."""
    return replace(study, search=replace(study.search, trials=trials_per_search(study)))


def has_time_limit(budget: BudgetSettings) -> bool:
    """Whether the budget limits GPU hours or hours of wall-clock time."""
    return any(getattr(budget, name) is not None for name in HOURS)
