"""What a study spent so far and what its budget leaves, from its results folder alone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import get_args

from orchestrator.results.records.runs import (
    Run,
    Use,
    cancelled_searches,
    ended_searches,
    read_runs,
    wall_seconds_of,
)
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.locations import Place
from orchestrator.scheduling.resource_usage import Spent
from orchestrator.scheduling.run_accounting import spent_in
from orchestrator.scheduling.study_progress import BudgetUse
from orchestrator.study.budget import SECONDS_PER_HOUR, trials_per_search
from orchestrator.study.study import Study


@dataclass(frozen=True, slots=True, kw_only=True)
class SpentStatus:
    """Hours of all runs together.

    Attributes:
        uses: use -> ``tries`` (number of attempts), ``trial_hours`` and ``gpu_hours``.
        trial_hours: hours of all attempts, summed as if they ran one after the other.
        gpu_hours: GPU-hours of all attempts.
        wall_hours: wall-clock hours of all runs.
        num_runs: number of recorded runs.
        budget: what is used of each limit.
        cut_short: search id -> trials it had when its share of the budget was used up.
        cancelled: search id -> trials it had when the user cancelled it, by the latest runs.
        trials_per_search: planned number of trials of each search.
    """

    uses: Mapping[str, Mapping[str, float]]
    trial_hours: float
    gpu_hours: float
    wall_hours: float
    num_runs: int
    budget: Sequence[BudgetUse]
    cut_short: Mapping[str, int]
    cancelled: Mapping[str, int]
    trials_per_search: int


def spent_status(study: Study, folder: Place, num_trials: int) -> SpentStatus:
    """Read what a study spent so far.

    Args:
        study: the resolved study.
        folder: its results folder.
        num_trials: number of its ended trials, copies excluded.
    """
    runs = read_runs(StudyPaths(folder))
    uses = _by_use(runs)
    gpu_hours = sum(use["gpu_hours"] for use in uses.values())
    trials = trials_per_search(study)
    ended = ended_searches(runs, asdict(study.budget))
    return SpentStatus(
        uses=uses,
        trial_hours=sum(use["trial_hours"] for use in uses.values()),
        gpu_hours=gpu_hours,
        wall_hours=wall_seconds_of(runs) / SECONDS_PER_HOUR,
        num_runs=len(runs),
        budget=budget_use(study, runs, num_trials),
        cut_short={search: had for search, had in sorted(ended.items()) if had < trials},
        cancelled=cancelled_searches(runs),
        trials_per_search=trials,
    )


def budget_use(study: Study, runs: Sequence[Run], num_trials: int) -> list[BudgetUse]:
    """What is used of each limit of a study.

    Args:
        study: the resolved study.
        runs: its runs.
        num_trials: number of its ended trials, copies excluded.
    """
    gpu_seconds = sum(spent.gpu_seconds for run in runs for spent in run.spent)
    used = (
        ("GPU-hours", gpu_seconds / SECONDS_PER_HOUR, study.budget.gpu_hours),
        ("hours", wall_seconds_of(runs) / SECONDS_PER_HOUR, study.budget.wall_hours),
        ("trials", float(num_trials), study.budget.trials),
    )
    return [
        BudgetUse(what=what, used=amount, limit=limit)
        for what, amount, limit in used
        if limit is not None
    ]


def _by_use(runs: Iterable[Run]) -> dict[str, dict[str, float]]:
    sums = {use: Spent() for use in get_args(Use)}
    for on, spent in spent_in(runs).items():
        sums[on.use].add(spent)
    return {
        use: {
            "tries": spent.tries,
            "trial_hours": spent.seconds / SECONDS_PER_HOUR,
            "gpu_hours": spent.gpu_seconds / SECONDS_PER_HOUR,
        }
        for use, spent in sums.items()
    }
