"""How far a study is, from its results folder alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from orchestrator.planning.gpu_packing import PackingAdvice, packing_advice
from orchestrator.results.records.artifact_files import kept_bytes
from orchestrator.results.records.asks import Ask, read_asks
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
        packing: advice on how many trials fit a GPU.
    """

    searches: Sequence[Mapping[str, object]]
    total: Mapping[str, object]
    spent: SpentStatus
    packing: Sequence[PackingAdvice]


def study_status(folder: Place) -> StudyStatus:
    """Counts of trials that are planned, suggested, done, pruned and failed.

    ``open`` trials were suggested and have no row: they are running, or were when the run ended.
    """
    reader = Reader(folder)
    study = study_from_resolved(reader.study())
    asks = read_asks(StudyPaths(folder))
    counts, trained = _counts(reader)
    rows = [_row(study, search, asks.get(search.id, []), counts) for search in searches(study)]
    numbers = ("trials", "planned", "open", "pruned", "failed", "duplicates", "finals")
    total: dict[str, object] = {name: sum(int(str(row[name])) for row in rows) for name in numbers}
    baselines = sum(count for (_, stage, _), count in counts.items() if stage == "baseline")
    kept_mb = round(kept_bytes(StudyPaths(folder)) / 1e6, 1)  # weights and embeddings
    return StudyStatus(
        searches=rows,
        total={**total, "baselines": baselines, "kept_mb": kept_mb},
        spent=spent_status(study, folder, reader, trained),
        packing=packing_advice(study, reader),
    )


def _counts(reader: Reader) -> tuple[dict[tuple[str, str, str], int], int]:
    """Trials by search, stage and state, and how many of all are no copies."""
    grouped = reader.summarise(
        lambda rows: (
            rows.select("search", "stage", "state", "same_as")
            .group_by("search", "stage", "state")
            .agg(pl.len(), pl.col("same_as").is_null().sum().alias("trained"))
        )
    )
    counts = {(search, stage, state): n for search, stage, state, n, _ in grouped.iter_rows()}
    return counts, int(grouped["trained"].sum())


def _row(
    study: Study, search: Search, asks: Sequence[Ask], counts: Mapping[tuple[str, str, str], int]
) -> dict[str, object]:
    def count(stage: str, *states: str) -> int:
        return sum(counts.get((search.id, stage, state), 0) for state in states)

    distinct = len({ask.trial_id for ask in asks})
    ended = count("search", *_STATES)
    return {
        "search": search.id,
        "name": search_name(study, search),
        "trials": ended,
        "planned": trials_per_search(study),
        "open": distinct - ended,
        "pruned": count("search", "PRUNED"),
        "failed": count("search", "FAILED") + count("final", "FAILED"),
        "duplicates": len(asks) - distinct,
        "finals": count("final", *_STATES),
    }
