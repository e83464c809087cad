"""Methods: how every number of a page was computed, in short sentences."""

from collections.abc import Iterator, Mapping

import polars as pl

from podium.analysis.estimates.confidence_intervals import class_bootstrap
from podium.analysis.figures.series import Series
from podium.analysis.page.html_page import Bullets, Heading, Paragraph, Part, Section
from podium.analysis.scores.final_scores import BASELINES, IS_BASELINE
from podium.analysis.study_results.study_results import StudyResults
from podium.analysis.tournament.table_tournament import TableResults
from podium.analysis.tournament.tournament import Tournament
from podium.analysis.wording import counted, listed

_POINTER = (
    "docs/explanation/statistics/ of podium has each definition, its limits, and its source."
)

_DISTANCES = {"euclidean": "Euclidean distance", "poincare": "Poincare distance"}


def methods(results: StudyResults, series: Mapping[str, Series]) -> Section:
    """The section of a study."""
    del series  # it has no figure
    return _section(
        ("Scores", _scores(results)),
        ("Selection", _selection(results)),
        *_ranking(results.tournament, "declared in the study file"),
        ("Intervals", _intervals(results)),
        *_networks(results),
        ("Exclusions", _exclusions(results)),
    )


def table_methods(results: TableResults, series: Mapping[str, Series]) -> Section:
    """The section of a published table."""
    del series  # it has no figure
    scores = ("The scores are those of the file; higher is better.",)
    return _section(("Scores", scores), *_ranking(results.tournament, results.rules_from))


def _section(*chapters: tuple[str, tuple[str, ...]]) -> Section:
    parts: list[Part] = [Paragraph(text=_POINTER, style="note")]
    for title, sentences in chapters:
        parts += [Heading(text=title), Bullets(items=sentences)]
    return Section(name="computed", title="Methods", parts=tuple(parts))


def _scores(results: StudyResults) -> tuple[str, ...]:
    finals = results.finals.filter(pl.col("stage") == "final")
    seeds = finals["seed_index"].n_unique()
    shown = f"{results.metric} is shown as a percentage"
    if results.ranked_by != results.own_score:
        label = results.ranked_by.label
        shown = f"{label}, by which losses are ranked, and {results.metric} are percentages"
    geometries = results.reader.provenance().get("geometries", {})
    others = [
        f"after {listed(losses)} by {_DISTANCES[geometry]}"
        for geometry in _DISTANCES
        if (losses := sorted(loss for loss, of_loss in geometries.items() if of_loss == geometry))
    ]
    factors = ["data set", "backbone", "embedding dimension"]
    factors += ["image size"] if results.study["image_sizes"] else []
    retrieved = (f"Images are retrieved by cosine, but {listed(others)}.",) if others else ()
    return (
        f"{shown}; differences of percentages are points.",
        *retrieved,
        f"A setting is one {listed(factors)}. Folds and the {counted(seeds, 'seed')} of a final"
        " are averaged within a cell.",
        *_test_readings(results),
        "Standard deviations are sample standard deviations; of a single value there is none.",
        f"The baselines, {listed(BASELINES)}, are shown beside the losses and are never ranked.",
    )


def _test_readings(results: StudyResults) -> Iterator[str]:
    """Which trials are scored on test classes, and under which protocols these select."""
    leaking = [protocol.shown for protocol in results.protocols if protocol.leaks]
    if leaking:
        yield f"Under {listed(leaking)} the test classes select epochs and configs."
    if len(leaking) < len(results.protocols):
        others = "Under the other protocols test" if leaking else "Test"
        who = "finals only" if results.study["quarantine"] == "none" else "searches and finals"
        yield f"{others} classes are scored by {who}, at the epoch that validation selected."


def _selection(results: StudyResults) -> tuple[str, ...]:
    trained = results.trials.filter(~IS_BASELINE)
    rules = trained["selection_rule"].drop_nulls().unique().sort().to_list()
    return (
        f"The epoch of a trial is selected by the rule {listed(rules) or 'of its protocol'}.",
        "The winner of a search is its complete trial with the best validation score; a tie goes"
        " to the earlier trial. Pruned and failed trials cannot win.",
        "Gains are tuned minus published default on test, paired by seed, fold and setting.",
    )


def _ranking(tournament: Tournament | None, who: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    if tournament is None:
        return
    units, level = tournament.units, f"{100 * tournament.rules.alpha:g} %"
    sentences = [
        "Losses are ranked within each setting, 1 is best; equal scores share their average rank."
        " The order is by average rank.",
        units.why_untested
        or f"The test answers: {units.question} Its units are {units.counted}. All differences of"
        " a unit change sign together; p of a pair is the share of such flips in which any asked"
        " pair has as large a mean, in standard deviations. Question and level"
        f" ({level}, two-sided) are {who}.",
    ]
    if tournament.is_tested:
        sentences.append(
            "Intervals are simultaneous: each holds the differences that the same flips do not"
            " reject, so p is the smallest level whose interval excludes 0."
        )
    if tournament.excluded:
        count = counted(len(tournament.excluded), "setting")
        sentences.append(f"The ranking leaves out {count}, where a competitor has no score.")
    yield ("Ranking", tuple(sentences))


def _intervals(results: StudyResults) -> tuple[str, ...]:
    sentences = [
        "Mean gains of tuning have 95 % intervals of Student's t over the units of the test, where"
        " there is one. Means over repeats or seeds speak of more repeats of the same."
    ]
    if results.is_by_class:
        defaults = class_bootstrap.__kwdefaults__ or {}
        sentences.append(
            "Recall of a cell has a 95 % percentile interval over resampled classes,"
            f" {defaults['replicates']:,} resamples, seed {defaults['seed']}."
        )
    return tuple(sentences)


def _networks(results: StudyResults) -> Iterator[tuple[str, tuple[str, ...]]]:
    if networks := results.reader.provenance().get("networks"):
        yield ("Networks", tuple(f"{name}: {note}." for name, note in sorted(networks.items())))


def _exclusions(results: StudyResults) -> tuple[str, ...]:
    states = dict(results.trials["state"].value_counts().iter_rows())
    failed, pruned = states.get("FAILED", 0), states.get("PRUNED", 0)
    return (
        f"Failed trials ({failed:,}) have no score: means are over the others, and every table"
        " that lacks one says so.",
        f"Pruned trials ({pruned:,}) count in cost, never in rank agreement, since they were"
        " trained for fewer epochs.",
        "A score that is not a number is treated as missing before anything else.",
    )
