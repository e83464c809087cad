"""Searches that ended because their share of a budget of hours was used up."""

import math
from collections.abc import Iterable, Mapping

from orchestrator.results.records.runs import Run

__all__ = ["HOURS", "ended_searches"]

HOURS = ("gpu_hours", "wall_hours")
"""Limits of time in a budget."""


def ended_searches(runs: Iterable[Run], budget: Mapping[str, float | None]) -> dict[str, int]:
    """Searches whose share was used up under no smaller a budget -> trials they had.

    They stay ended although finals turned out cheaper than what was kept back for them, so that
    nothing is searched after a winner was tested. A larger budget opens them again.

    Args:
        runs: of the study.
        budget: what it has now; what is missing or None is no limit.
    """
    ended: dict[str, int] = {}
    for run in runs:
        if not _is_larger(budget, run.budget):
            ended |= run.ended_searches
    return ended


def _is_larger(budget: Mapping[str, float | None], before: Mapping[str, float | None]) -> bool:
    return any(_limit(budget.get(name)) > _limit(before[name]) for name in HOURS)


def _limit(hours: float | None) -> float:
    return math.inf if hours is None else hours
