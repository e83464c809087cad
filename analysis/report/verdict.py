"""The verdict in plain sentences: who won, by how much, how sure, and what to be warned of."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from podium.analysis.report.fairness import fairness_sentences
from podium.analysis.scores.compared_runs import leak_warning
from podium.analysis.scores.final_scores import BASELINES, FEATURES, UNTRAINED
from podium.analysis.scores.ranked_score import chosen_late
from podium.analysis.scores.study_table import unequal_finals
from podium.analysis.study_results.study_results import PERCENT, StudyResults
from podium.analysis.tournament.verdict_text import headline, verdict_sentences
from podium.analysis.wording import MOST_NAMED, counted, duration, listed, number, range_of, signed

_BASELINES = {UNTRAINED: "the untrained network", FEATURES: "the untouched features"}


def answer_headline(results: StudyResults) -> str:
    """Who is first, and whether that was tested."""
    if results.tournament:
        return headline(results.tournament, metric=results.ranked_by.label)
    return f"There is no ranking: {results.no_tournament_reason}."


def answer_sentences(results: StudyResults) -> tuple[str, ...]:
    """How sure that is, the gains of tuning, what failed or is missing, and what it cost."""
    ranked = results.tournament
    above, is_none = above_baseline(results)
    sentences = (
        *(verdict_sentences(ranked) if ranked else ()),
        *fairness_sentences(results),
        *gain_sentences(results),
        "" if is_none else above,  # that none is above is a notice
        _unfinished(results),
        _unranked(results),
        failed_sentence(results),
    )
    return (*filter(None, sentences), _spent(results))


def gain_sentences(results: StudyResults) -> Iterator[str]:
    """Gains of tuning: significant ones, significant losses, uncertain and untested ones."""
    rows = results.overall.drop_nulls("gain").to_dicts()
    known = Counter(results.selection.drop_nulls("gain")["loss"])
    kept = [row for row in rows if row["num_kept_default"] == known[row["loss"]]]
    tuned = [row for row in rows if row not in kept]
    tested = [row for row in tuned if row["gain_low"] is not None]
    better = [row for row in tested if row["gain_low"] > 0]
    worse = [row for row in tested if row["gain_high"] < 0]
    by = _by_own_score(results)
    unsure = [row for row in tested if row not in (*better, *worse)]
    untested = [row for row in tuned if row not in tested]
    names = [row["loss"] for row in kept]
    searched = set(results.search_trials.filter(~pl.col("is_default"))["loss"])
    for opening, group in (
        (f"Tuning beat the default on test{by}", map(_gain, better)),
        (f"Tuning did worse on test than the default{by}", map(_gain, worse)),
        (f"It is uncertain whether tuning beat the default on test{by}", map(_gain, unsure)),
        (f"Tuning changed the test score of these settings{by}", map(_gain, untested)),
        ("No other config beat the default on validation", [it for it in names if it in searched]),
        ("Nothing but the default was evaluated", [it for it in names if it not in searched]),
    ):
        if items := [*group]:
            yield f"{opening} for {listed(items, most=MOST_NAMED)}."


def _by_own_score(results: StudyResults) -> str:
    """`` by Recall@1`` where losses are ranked by another score than configs; else empty."""
    return "" if results.ranked_by == results.own_score else f" by {results.metric}"


def _gain(row: Mapping[str, Any]) -> str:
    """``contrastive (+3.9 points, 3.6 to 4.2)``; the interval is 95 %."""
    gain = f"{row['loss']} ({signed(PERCENT * row['gain'], 1)} points"
    if row["gain_low"] is None:
        return f"{gain})"
    interval = range_of(PERCENT * row["gain_low"], PERCENT * row["gain_high"], 1)
    return f"{gain}, {interval})"


def above_baseline(results: StudyResults) -> tuple[str, bool]:
    """Which tuned losses beat the better baseline, and whether none does in any block."""
    known = results.selection.drop_nulls("above_baseline")
    if known.is_empty():
        return "", False
    below = known.filter(pl.col("above_baseline") <= 0).sort("block", "loss")
    by, names = _by_own_score(results), set(known["baseline"])
    better = ", in others ".join(_BASELINES[name] for name in BASELINES if name in names)
    if len(names) > 1:
        better = f"in some {better}"
    if below.is_empty():
        return f"Every tuned loss beats the better baseline{by} in every setting: {better}.", False
    if below.height == known.height:
        gaps = below.group_by("loss").agg(pl.col("above_baseline").mean())
        best = gaps.sort("above_baseline", "loss").row(-1, named=True)
        behind = number(PERCENT * -best["above_baseline"], 1)
        found = f"No tuned loss beats the better baseline{by} in any setting, {better}"
        return f"{found}: {best['loss']} is the nearest, {behind} points below on average.", True
    found = f"Not every tuned loss beats the better baseline{by}, {better}"
    if below.height > MOST_NAMED:
        counts = f"{below.height} of {known.height} scores of a loss in a setting"
        return f"{found}: {counts} are not above it.", False
    cells = [f"{row['loss']} in {row['block']}" for row in below.to_dicts()]
    do = "does" if len(cells) == 1 else "do"
    return f"{found}: {listed(cells)} {do} not.", False


def _unfinished(results: StudyResults) -> str:
    study = results.study
    factors = ("datasets", "backbones", "embedding_dims")
    planned = math.prod(len(study[name]) for name in factors)
    planned *= max(1, len(study["image_sizes"]))  # none: images have a size of their own
    tested = results.winners.filter(pl.col("state") == "COMPLETE")["block"].n_unique()
    if tested == planned:
        return ""
    have = "has" if tested == 1 else "have"
    return f"{tested} of {counted(planned, 'planned setting')} {have} a tested winner so far."


def _unranked(results: StudyResults) -> str:
    """Losses without any final of a winner, which are not in the ranking; empty if none."""
    absent = [loss for loss in results.losses if loss not in set(results.winners["loss"])]
    if results.tournament is None or not absent:
        return ""
    return f"Not ranked, as no winner has been tested yet: {listed(absent, most=MOST_NAMED)}."


def failed_sentence(results: StudyResults) -> str:
    """How many trials failed, and why; empty if none."""
    failed = results.trials.filter(pl.col("state") == "FAILED")
    if failed.is_empty():
        return ""
    causes = Counter(failed["cause"].fill_null("unknown").to_list())
    named = listed(
        [
            f"{cause} {count}"
            for cause, count in sorted(causes.items(), key=lambda c: (-c[1], c[0]))
        ]
    )
    stages = failed.filter(pl.col("stage") != "search").height
    finals = f", {counted(stages, 'final trial')} among them" if stages else ""
    return (
        f"{counted(failed.height, 'trial')} of {results.trials.height:,} failed ({named}){finals};"
        " means are over those that did not."
    )


def _spent(results: StudyResults) -> str:
    trials = results.trials.filter(pl.col("same_as").is_null())
    pruned = trials.filter(pl.col("state") == "PRUNED").height
    seconds = float(trials["seconds"].sum())
    return (
        f"It took {counted(trials.height, 'trial')}, baselines included, {pruned:,} of them"
        f" stopped early, and {duration(seconds)} of training."
    )


def notices(results: StudyResults) -> tuple[str, ...]:
    """Warnings about the data and the protocol; empty if there are none."""
    found = []
    if results.trials["dataset"].str.starts_with("glyph").any():
        found.append("glyphs is a data set for trying podium, not for papers.")
    partial = [
        str(item["name"])
        for item in results.study.get("datasets", ())
        if item["name"] != "folder" and item.get("options", {}).get("allow_partial")
    ]
    if partial:
        found.append(
            "Read with allow_partial, which need not be the data set of the literature: "
            f"{', '.join(partial)}."
        )
    if len(results.protocols) > 1:
        found.append(
            f"Losses are compared under the protocol {results.protocol.shown}; the chapter on"
            " protocols compares all of them."
        )
    found += decisive_notices(results)
    if late := chosen_late(results.ranked_by, results.declared_score):
        found.append(f"{late[0].upper()}{late[1:]}.")
    if results.protocol.leaks:
        found.append(f"{leak_warning(results.protocol)}.")
    return tuple(found)


def decisive_notices(results: StudyResults) -> tuple[str, ...]:
    """What qualifies the verdict wherever it is printed: an unfinished study, no gain at all."""
    counts = results.winners.group_by("loss").len().sort("loss").rows()
    unequal = unequal_finals([row for row in counts if row[0] not in BASELINES])
    above, is_none = above_baseline(results)
    return (
        *([f"{unequal[0].upper()}{unequal[1:]}."] if unequal else []),
        *([above] if is_none else []),
    )
