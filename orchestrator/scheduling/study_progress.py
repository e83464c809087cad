"""A snapshot of a running study, for people to watch."""

from dataclasses import dataclass

from podium.orchestrator.study.blocks import SECONDS_PER_HOUR
from podium.orchestrator.study.study import BudgetSettings, Search, Study


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetUse:
    """How much of one limit all runs of the study used, running trials included.

    Attributes:
        what: ``GPU-hours``, ``hours`` of all runs, or ``trials``.
        used: amount in that unit.
        limit: budget in that unit; None if the study has none.
    """

    what: str
    used: float
    limit: float | None

    def __str__(self) -> str:
        """``1.25 of 40 GPU-hours``."""
        of = "" if self.limit is None else f" of {self.limit:.3g}"
        return f"{self.used:.3g}{of} {self.what}"


def budget_uses(
    budget: BudgetSettings, gpu_seconds: float, wall_seconds: float, num_trials: int
) -> tuple[BudgetUse, ...]:
    """What is used of each limit of a study; ``num_trials`` of it ended and are no copies."""
    used = (
        ("GPU-hours", gpu_seconds / SECONDS_PER_HOUR, budget.gpu_hours),
        ("hours", wall_seconds / SECONDS_PER_HOUR, budget.wall_hours),
        ("trials", float(num_trials), budget.trials),
    )
    return tuple(
        BudgetUse(what=what, used=amount, limit=limit)
        for what, amount, limit in used
        if limit is not None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchProgress:
    """One search: how many of its planned trials are done.

    Attributes:
        best: best objective among complete trials; None before the first.
        duplicates: suggestions of a config that had been suggested before.
        is_cut_short: whether its budget ended before it had all its trials.
        is_cancelled: whether the user cancelled it before it had all its trials.
    """

    id: str
    name: str
    planned: int
    done: int
    running: int
    pruned: int
    failed: int
    duplicates: int
    best: float | None
    finals_done: int
    finals_planned: int
    is_cut_short: bool = False
    is_cancelled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyProgress:
    """The whole study.

    Attributes:
        seconds_left: estimate, or what the budget leaves if that is less; None while
            neither is known.
        score: what ``best`` of a search is, such as ``R@1``.
        failures: why trials failed in this run, a line for each cause.
        retries: how many attempts were retried in this run, and why; None if none.
        part_done: part of the seconds of all trials that is done, in [0, 1]; None while too little
            is known of them.
    """

    searches: tuple[SearchProgress, ...]
    trials_done: int
    trials_planned: int
    running: int
    failed: int
    seconds_left: float | None
    score: str
    failures: tuple[str, ...] = ()
    budget: tuple[BudgetUse, ...] = ()
    retries: str | None = None
    part_done: float | None = None


def search_name(study: Study, search: Search) -> str:
    """The shortest name that distinguishes a search from all others of its study."""
    factors = (study.datasets, study.backbones, study.embedding_dims, study.image_sizes)
    has_blocks = any(len(values) > 1 for values in factors)
    loss = study.loss(search.loss).label or search.loss
    parts = [*([search.block.label] if has_blocks else []), loss]
    if len(study.protocols) > 1:
        parts.append(search.protocol)
    if study.search.repeats > 1:
        parts.append(f"#{search.repeat}")
    return " ".join(parts)
