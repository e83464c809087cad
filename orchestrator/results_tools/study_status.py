"""How far a study is, from its results folder alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orchestrator.results.records.artifact_files import kept_bytes
from orchestrator.results.records.journal import read_asks
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.locations import Place
from orchestrator.results.trial_files.reader import Reader
from orchestrator.results_tools.study_spending import SpentStatus, spent_status
from orchestrator.scheduling.study_progress import search_name
from orchestrator.study.blocks import searches
from orchestrator.study.budget import trials_per_search
from orchestrator.study.resolved_study import study_from_resolved
from orchestrator.study.study import Search, Study

_STATES = ("COMPLETE", "PRUNED", "FAILED")


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
    """Counts of trials that are planned, suggested, done, pruned and failed.

    ``open`` trials were suggested and have no row: they are running, or were when the run ended.
    """
    reader = Reader(folder)
    study = study_from_resolved(reader.study())
    counts, trained = _counts(reader)
    planned, trials = searches(study), trials_per_search(study)
    # The last suggestion of a search that has all its trials is one of them: its row says how many
    # suggestions there were.
    others = [it.id for it in planned if counts.ended_of_search(it.id) != trials]
    asks = read_asks(StudyPaths(folder), others)
    rows = []
    for search in planned:
        ended = counts.ended_of_search(search.id)
        own = asks.get(search.id, [])
        is_whole = ended == trials
        distinct = ended if is_whole else len({ask.trial_id for ask in own})
        asked = counts.last_index.get(search.id, -1) + 1 if is_whole else len(own)
        rows.append(_row(study, search, counts, asked=asked, distinct=distinct))
    numbers = ("trials", "planned", "open", "pruned", "failed", "duplicates", "finals")
    total: dict[str, object] = {name: sum(int(str(row[name])) for row in rows) for name in numbers}
    baselines = sum(count for (_, stage, _), count in counts.of.items() if stage == "baseline")
    kept_mb = round(kept_bytes(StudyPaths(folder)) / 1e6, 1)  # weights and embeddings
    return StudyStatus(
        searches=rows,
        total={**total, "baselines": baselines, "kept_mb": kept_mb},
        spent=spent_status(study, folder, trained),
    )


@dataclass(frozen=True, slots=True)
class _Counts:
    """Trials with rows.

    Attributes:
        of: search, stage and state -> number of trials.
        last_index: search -> largest index of its search trials.
    """

    of: Mapping[tuple[str, str, str], int]
    last_index: Mapping[str, int]

    def ended(self, search: str, stage: str, states: Sequence[str] = _STATES) -> int:
        """Number of trials of a search and stage in some states, by default in any."""
        return sum(self.of.get((search, stage, state), 0) for state in states)

    def ended_of_search(self, search: str) -> int:
        """Number of search trials of a search."""
        return self.ended(search, "search")


def _counts(reader: Reader) -> tuple[_Counts, int]:
    """Trials by search, stage and state, and how many of all are no copies."""
    grouped = reader.counts()
    counts: dict[tuple[str, str, str], int] = {}
    last_index: dict[str, int] = {}
    for search, stage, state, number, _, last in grouped.iter_rows():
        counts[search, stage, state] = number
        if stage == "search":
            last_index[search] = max(last, last_index.get(search, 0))
    return _Counts(counts, last_index), int(grouped["trained"].sum())


def _row(
    study: Study, search: Search, counts: _Counts, *, asked: int, distinct: int
) -> dict[str, object]:
    """One search.

    Args:
        study: the resolved study.
        search: the search.
        counts: its trials with rows.
        asked: number of its suggestions.
        distinct: number of these that are trials of their own.
    """
    ended = counts.ended_of_search(search.id)
    return {
        "search": search.id,
        "name": search_name(study, search),
        "trials": ended,
        "planned": trials_per_search(study),
        "open": distinct - ended,
        "pruned": counts.ended(search.id, "search", ["PRUNED"]),
        "failed": sum(counts.ended(search.id, stage, ["FAILED"]) for stage in ("search", "final")),
        "duplicates": asked - distinct,
        "finals": counts.ended(search.id, "final"),
    }
