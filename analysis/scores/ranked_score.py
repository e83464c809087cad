"""The test score that losses are ranked by: the study's own, or another that is stored."""

import polars as pl

from podium.errors import PodiumError
from podium.orchestrator.results.records.metric_columns import (
    DIAGNOSTICS,
    METRICS_WITHOUT_K,
    RankedScore,
)
from podium.orchestrator.results.records.tournament_rules import rules_of
from podium.orchestrator.results.trial_files.reader import Reader


def declared_score(reader: Reader) -> RankedScore:
    """What the study declares in ``tournament.score``; else its own metric at its first K."""
    study = reader.study()
    declared = rules_of(study).score
    if declared is not None:
        return _named(declared)
    return RankedScore(reader.objective, study["ks"][0])


def chosen_score(reader: Reader, name: str | None) -> RankedScore:
    """The score that was asked for, in any case of letters; None means the declared one.

    Raises:
        PodiumError: no final trial has such a score.
    """
    if name is None:
        return declared_score(reader)
    # Metrics of which less is better, such as distances between labels, rank nothing.
    known = [
        *(RankedScore(reader.objective, k) for k in reader.study()["ks"]),
        *map(RankedScore, stored_without_k(reader.test_scores())),
    ]
    score = _named(name.strip().lower())
    if score not in known:
        names = ", ".join(item.name for item in known)
        why = "; it ranks nothing: see Learning curves" if score.metric in DIAGNOSTICS else ""
        raise PodiumError(f"score of this study must be one of {names}; got {name!r}{why}")
    return score


def stored_without_k(test_scores: pl.LazyFrame) -> tuple[str, ...]:
    """Metrics without K that finals were tested by, in the order of the store."""
    found = test_scores.filter(
        pl.col("stage") == "final", pl.col("k").is_null(), pl.col("value").is_not_nan()
    )
    metrics = set(found.select(pl.col("metric").unique()).collect()["metric"])
    return tuple(name for name in METRICS_WITHOUT_K if name in metrics)


def chosen_late(score: RankedScore, declared: RankedScore) -> str:
    """The warning that belongs to a ranking by another score than was declared; else empty."""
    if score == declared:
        return ""
    return (
        f"losses are ranked by {score.label}, chosen after the run; the study was to rank them by"
        f" {declared.label}"
    )


def _named(name: str) -> RankedScore:
    metric, _, k = name.partition("@")
    return RankedScore(metric, int(k) if k.isdecimal() else 0)
