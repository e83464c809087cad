"""How far a study is, what it spent and what its budget leaves, from its results folder alone."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, get_args

import polars as pl

from podium.orchestrator.results.records.artifact_files import kept_bytes
from podium.orchestrator.results.records.journal import read_asks
from podium.orchestrator.results.records.runs import (
    Run,
    RunSpent,
    Use,
    cancelled_searches,
    ended_searches,
    read_runs,
    wall_seconds_of,
)
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.locations import Place
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.scheduling.study_progress import BudgetUse, budget_uses, search_name
from podium.orchestrator.study.blocks import SECONDS_PER_HOUR, searches, trials_per_search
from podium.orchestrator.study.resolved_study import study_from_resolved
from podium.orchestrator.study.study import Study

c = pl.col  # c.state is the column of that name
_NUMBERS = ("trials", "planned", "open", "pruned", "failed", "duplicates", "finals")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyStatus:
    """The progress of a study.

    Attributes:
        searches: one row of counts for each search.
        total: sums over searches, number of baselines, and MB of kept artifacts.
        spent: what the study spent so far.
    """

    searches: Sequence[Mapping[str, object]]
    total: Mapping[str, object]
    spent: SpentStatus


def study_status(folder: Place) -> StudyStatus:
    """Counts of trials that are planned, suggested, done, pruned and failed, and hours.

    ``open`` trials were suggested and have no row: they are running, or were when the run ended.
    """
    reader, paths = Reader(folder), StudyPaths(folder)
    study = study_from_resolved(reader.study())
    trials, planned, counts = trials_per_search(study), searches(study), reader.summarise(_counts)
    ended = {row["search"]: row for row in counts.iter_rows(named=True)}
    # The last suggestion of a whole search has a row: its index says how many there were.
    whole = {search for search, row in ended.items() if row["trials"] == trials}
    asks = read_asks(paths, [search.id for search in planned if search.id not in whole])
    rows: list[dict[str, Any]] = []
    for search in planned:
        count, of_search = (
            ended.get(search.id, dict.fromkeys(counts.columns, 0)),
            asks.get(search.id, ()),
        )
        is_whole = search.id in whole
        distinct = trials if is_whole else len({ask.trial_id for ask in of_search})
        rows.append(
            {
                "search": search.id,
                "name": search_name(study, search),
                "trials": count["trials"],
                "planned": trials,
                "open": distinct - count["trials"],
                "pruned": count["pruned"],
                "failed": count["failed"],
                "duplicates": (count["last"] + 1 if is_whole else len(of_search)) - distinct,
                "finals": count["finals"],
            }
        )
    return StudyStatus(
        searches=rows,
        total={
            **{name: sum(row[name] for row in rows) for name in _NUMBERS},
            "baselines": int(counts["baselines"].sum()),
            "kept_mb": round(kept_bytes(paths) / 1e6, 1),  # weights and embeddings
        },
        spent=_spent(study, read_runs(paths), int(counts["trained"].sum())),
    )


def _counts(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Trials of each search, by what became of them; ``trained`` ones are no copies."""
    is_search, is_final = c.stage == "search", c.stage == "final"
    return rows.group_by("search").agg(
        trials=is_search.sum(),
        pruned=(is_search & (c.state == "PRUNED")).sum(),
        failed=((is_search | is_final) & (c.state == "FAILED")).sum(),
        finals=is_final.sum(),
        baselines=(c.stage == "baseline").sum(),
        trained=c.same_as.is_null().sum(),
        last=c.index.filter(is_search).max(),
    )


def _spent(study: Study, runs: Sequence[Run], num_trials: int) -> SpentStatus:
    """What a study spent, of whose trials so many ended and are no copies."""
    spent = [it for run in runs for it in run.spent]
    total, wall_seconds, trials = _hours(spent), wall_seconds_of(runs), trials_per_search(study)
    ended = ended_searches(runs, asdict(study.budget))
    gpu_seconds = sum(it.gpu_seconds for it in spent)
    return SpentStatus(
        uses={use: _hours([it for it in spent if it.use == use]) for use in get_args(Use)},
        trial_hours=total["trial_hours"],
        gpu_hours=total["gpu_hours"],
        wall_hours=wall_seconds / SECONDS_PER_HOUR,
        num_runs=len(runs),
        budget=budget_uses(study.budget, gpu_seconds, wall_seconds, num_trials),
        cut_short={search: had for search, had in sorted(ended.items()) if had < trials},
        cancelled=cancelled_searches(runs),
        trials_per_search=trials,
    )


def _hours(spent: Sequence[RunSpent]) -> dict[str, float]:
    return {
        "tries": sum(it.tries for it in spent),
        "trial_hours": sum(it.seconds for it in spent) / SECONDS_PER_HOUR,
        "gpu_hours": sum(it.gpu_seconds for it in spent) / SECONDS_PER_HOUR,
    }
