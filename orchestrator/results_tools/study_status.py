"""How far a study is, what it spent and what its budget leaves, from its results folder alone."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, get_args

from podium.orchestrator.results.records.artifact_files import kept_bytes
from podium.orchestrator.results.records.journal import read_asks
from podium.orchestrator.results.records.runs import (
    Run,
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
    trials, planned, counts = trials_per_search(study), searches(study), reader.counts()
    numbers, ended = Counter[tuple[str, str, str]](), Counter[tuple[str, str]]()
    last_index: dict[str, int] = {}
    for search_id, stage, state, number, _, last in counts.iter_rows():
        numbers[search_id, stage, state] = number
        ended[search_id, stage] += number
        if stage == "search":
            last_index[search_id] = max(last, last_index.get(search_id, 0))
    whole = {search.id for search in planned if ended[search.id, "search"] == trials}
    asks = read_asks(paths, [search.id for search in planned if search.id not in whole])
    rows: list[dict[str, Any]] = []
    for search in planned:
        own, num_ended = asks.get(search.id, []), ended[search.id, "search"]
        asked, distinct = len(own), len({ask.trial_id for ask in own})
        if search.id in whole:  # its last suggestion has a row: that says how many there were
            asked, distinct = last_index[search.id] + 1, num_ended
        failed = [numbers[search.id, stage, "FAILED"] for stage in ("search", "final")]
        rows.append(
            {
                "search": search.id,
                "name": search_name(study, search),
                "trials": num_ended,
                "planned": trials,
                "open": distinct - num_ended,
                "pruned": numbers[search.id, "search", "PRUNED"],
                "failed": sum(failed),
                "duplicates": asked - distinct,
                "finals": ended[search.id, "final"],
            }
        )
    return StudyStatus(
        searches=rows,
        total={
            **{name: sum(row[name] for row in rows) for name in _NUMBERS},
            "baselines": sum(num for (_, stage), num in ended.items() if stage == "baseline"),
            "kept_mb": round(kept_bytes(paths) / 1e6, 1),  # weights and embeddings
        },
        spent=_spent(study, read_runs(paths), int(counts["trained"].sum())),
    )


def _spent(study: Study, runs: Sequence[Run], num_trials: int) -> SpentStatus:
    """What a study spent, of whose trials so many ended and are no copies."""
    of_use = {
        use: [it for run in runs for it in run.spent if it.use == use] for use in get_args(Use)
    }
    uses = {
        use: {
            "tries": sum(it.tries for it in spent),
            "trial_hours": sum(it.seconds for it in spent) / SECONDS_PER_HOUR,
            "gpu_hours": sum(it.gpu_seconds for it in spent) / SECONDS_PER_HOUR,
        }
        for use, spent in of_use.items()
    }
    gpu_seconds = sum(it.gpu_seconds for run in runs for it in run.spent)
    wall_seconds, trials = wall_seconds_of(runs), trials_per_search(study)
    ended = ended_searches(runs, asdict(study.budget))
    return SpentStatus(
        uses=uses,
        trial_hours=sum(use["trial_hours"] for use in uses.values()),
        gpu_hours=sum(use["gpu_hours"] for use in uses.values()),
        wall_hours=wall_seconds / SECONDS_PER_HOUR,
        num_runs=len(runs),
        budget=budget_uses(study.budget, gpu_seconds, wall_seconds, num_trials),
        cut_short={search: had for search, had in sorted(ended.items()) if had < trials},
        cancelled=cancelled_searches(runs),
        trials_per_search=trials,
    )
