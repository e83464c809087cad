"""Versions of one loss that were compared on the same test classes, and what that does to p."""

from collections.abc import Iterator, Sequence

from podium.analysis.study_results.study_results import StudyResults, read_results
from podium.analysis.wording import listed, number, signed
from podium.comparison.answer import Against
from podium.errors import PodiumError
from podium.orchestrator.results.records.runs import read_runs
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import read_study
from podium.orchestrator.results.storage.files import list_studies
from podium.orchestrator.results.storage.locations import Place

_SAME = ("datasets", "embedding_dims", "image_sizes", "losses", "final")
_MOST_SHOWN = 5  # the latest ones
_ALPHA = 0.05


def version_sentences(
    folder: Place, results: StudyResults, loss: str, against: Sequence[Against]
) -> list[str]:
    """What is said of a loss of which the storage holds other versions; nothing without them.

    The best of N versions on the same test classes looks better than it is. So p is multiplied by
    N, as Bonferroni does for N questions.

    Args:
        folder: results folder of the comparison; others of its storage are looked at.
        results: results of the comparison.
        loss: name of the loss in the tournament.
        against: its differences.
    """
    try:
        scores: list[tuple[float | None, bool]] = [
            (_mean_score(results if it == folder else read_results(it), loss), it == folder)
            for it in _versions(folder)
        ]
    except PodiumError as error:
        return [f"Versions of {loss} in this storage are not counted: {error}."]
    if len(scores) < 2:
        return []
    before = [None, *(score for score, _ in scores)]
    shown = [_gain(*pair) for pair in zip(before, scores, strict=False)][-_MOST_SHOWN:]
    latest = "" if len(shown) == len(scores) else f"; the latest {len(shown)}"
    return [
        f"{len(scores)} versions of {loss} were compared on these test classes{latest}: mean"
        f" {results.ranked_by.label} {listed(shown)}.",
        *_widened(against, len(scores)),
    ]


def _versions(folder: Place) -> list[Place]:
    """Complete comparisons that differ from this one in the loss's code alone, oldest first."""
    kind, own = folder.name.rpartition("-")[0], read_study(StudyPaths(folder)) or {}
    found = []
    for other in list_studies(folder.parent):
        if other.name.rpartition("-")[0] != kind:
            continue
        runs = read_runs(StudyPaths(other))
        study = read_study(StudyPaths(other)) or {}
        is_like = all(study.get(key) == own.get(key) for key in _SAME)
        if is_like and runs and (other == folder or runs[-1].end == "finished"):
            found.append((runs[0].started_at, other.name, other))
    return [other for *_, other in sorted(found)]


def _mean_score(results: StudyResults, loss: str) -> float | None:
    """The loss's mean over settings, as it is shown; None if it is not ranked."""
    standings = () if results.tournament is None else results.tournament.standings
    return {one.competitor: round(one.mean_score, 1) for one in standings}.get(loss)


def _gain(before: float | None, now: tuple[float | None, bool]) -> str:
    """``46.0 (+0.9, this one)``: the score, and its gain over the version before."""
    score, is_this = now
    if score is None:
        return "none"
    notes = [] if before is None else [signed(score - before, 1)]
    notes += ["this one"] if is_this else []
    return number(score, 1) + (f" ({', '.join(notes)})" if notes else "")


def _widened(against: Sequence[Against], num_versions: int) -> Iterator[str]:
    """Which differences hold if each p counts once a version."""
    different = [one for one in against if one.is_different and one.p is not None]
    holds = [one.opponent for one in different if num_versions * (one.p or 0) <= _ALPHA]
    fails = [one.opponent for one in different if one.opponent not in holds]
    parts = [f"the difference to {listed(holds)} still holds"] if holds else []
    parts += [f"the difference to {listed(fails)} no longer holds"] if fails else []
    if parts:
        yield (
            f"With p times {num_versions}, for so many versions were tried, {' and '.join(parts)}."
        )
