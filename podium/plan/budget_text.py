"""What a budget means for a plan, in sentences."""

from collections.abc import Iterator

from orchestrator.planning.budget_plan import BudgetPlan, Needed

__all__ = ["budget_notes"]


def budget_notes(budget: BudgetPlan) -> Iterator[str]:
    """One sentence or two for each limit; none without a budget."""
    limits = budget.limits
    if limits.trials is not None:
        of = f" of {budget.wanted_trials}" if budget.is_cut else ""
        yield (
            f"Budget: {limits.trials} trials leave each of {budget.num_searches} searches "
            f"{budget.trials_per_search}{of}, finals and baselines kept back."
        )
    if limits.gpu_hours is not None:
        yield f"Budget: {limits.gpu_hours:g} GPU-hours. {_against(budget, limits.gpu_hours)}"
    if limits.wall_hours is not None:
        yield f"Budget: {limits.wall_hours:g} hours of all runs. {_places(budget)}"


def _against(budget: BudgetPlan, limit: float) -> str:
    needed = budget.gpu_hours
    if needed is None:
        return (
            "What the study needs is not known before the first trial is done; each of "
            f"{budget.num_searches} searches has an equal share of what the final stage leaves."
        )
    if needed.high <= limit:
        fits = "so it fits"
    elif needed.low > limit:
        fits = "so searches will end early"
    else:
        fits = "so searches may end early"
    share = max(0.0, limit - needed.finals) / budget.num_searches
    left = (
        f" Each of {budget.num_searches} searches has {share:.2g}, after {needed.finals:.2g} for "
        "the final stage."
        if needed.finals < limit
        else f" The final stage alone takes {needed.finals:.2g}: it will be stopped."
    )
    return f"All trials take at most {_range(needed)} GPU-hours, {fits}.{left}"


def _places(budget: BudgetPlan) -> str:
    needed, limit = budget.slot_hours, budget.limits.wall_hours
    assert limit is not None, "only called with a budget of hours"
    if needed is None:
        return "What the study needs is not known before the first trial is done."
    return (
        f"All trials take at most {_range(needed)} hours one after the other, so "
        f"{max(1.0, needed.median / limit):.2g} at a time are enough."
    )


def _range(needed: Needed) -> str:
    return f"{needed.median:.2g} ({needed.low:.2g} to {needed.high:.2g})"
