"""How much of its budget a study spent, in lines."""

from collections.abc import Iterator

from orchestrator.results_tools.study_status import SpentStatus


def spent_lines(spent: SpentStatus) -> Iterator[str]:
    """Totals by use, what is left of the budget, and searches that ended early."""
    if spent.trial_hours or spent.num_runs:
        amount, unit = _unit(spent)
        plural = "s" if spent.num_runs != 1 else ""
        text = (
            f"spent {sum(of[amount] for of in spent.uses.values()):.3g} {unit}"
            f" in {spent.num_runs} run{plural} of {spent.wall_hours:.3g} hours"
        )
        parts = [f"{use} {of[amount]:.3g}" for use, of in spent.uses.items() if of["tries"]]
        yield f"{text}: {', '.join(parts)}" if parts else text
    if spent.budget:
        yield f"budget: {', '.join(map(str, spent.budget))}"
    for search, trials in spent.cut_short.items():
        yield f"{search}: budget used up after {trials} of {spent.trials_per_search} trials"
    for search, trials in spent.cancelled.items():
        yield f"{search}: cancelled by the user after {trials} of {spent.trials_per_search} trials"


def _unit(spent: SpentStatus) -> tuple[str, str]:
    if spent.gpu_hours:
        return "gpu_hours", "GPU-hours"
    return "trial_hours", "hours of trials"
