"""What a study's budget leaves to each search, in trials, and what it reserves for finals."""

from collections.abc import Sequence
from dataclasses import replace

from orchestrator.results.records.runs import HOURS, Part
from orchestrator.study.blocks import blocks, most_finals, num_baseline_runs, searches
from orchestrator.study.study import BudgetSettings, Study

SECONDS_PER_HOUR = 3600.0


def num_reserved_trials(study: Study) -> int:
    """Upper bound on trials of the final stage and its baselines: no default wins its search."""
    searched = searches(study)
    finals = sum(most_finals(study, search) for search in searched)
    return finals + len(blocks(study)) * num_baseline_runs(study, searched[0])


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


def limits_of_part(
    study: Study, budget: BudgetSettings, part: Part, gpu_hours: Sequence[float]
) -> BudgetSettings:
    """What a part may use of a budget: of GPU-hours and of trials a share by its blocks.

    The shares are fixed, so that runs of parts need not know of each other. A part that used more
    before, as when the whole study was run, leaves less to all others; it gets nothing more. Hours
    of wall-clock time pass for all parts at once, so each has all of them.

    Args:
        study: the resolved study.
        budget: the limits of the study.
        part: the part.
        gpu_hours: GPU-hours that the searches of each part used before, part 1 first.
    """
    if part.is_whole:
        return budget
    num_blocks = [len(blocks(study, other)) for other in part.all]
    hours, trials = budget.gpu_hours, budget.trials
    own = part.number - 1
    return replace(
        budget,
        gpu_hours=None if hours is None else _share(hours, num_blocks, gpu_hours, own),
        trials=None if trials is None else trials * num_blocks[own] // sum(num_blocks),
    )


def _share(whole: float, weights: Sequence[float], used: Sequence[float], own: int) -> float:
    """The share of one of several; those who used more than theirs reduce that of the others."""
    others, left = dict(enumerate(weights)), whole
    while True:
        unit = left / sum(others.values())
        over = [number for number, weight in others.items() if used[number] > unit * weight]
        if own in over:
            return used[own]
        if not over:
            return unit * others[own]
        left -= sum(used[number] for number in over)
        for number in over:
            del others[number]
