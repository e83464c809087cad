"""What a study shows of its protocols, in plain sentences."""

from collections.abc import Iterator

import polars as pl

from podium.analysis.protocols.protocol_study import ProtocolStudy
from podium.analysis.protocols.protocol_tables import row_of
from podium.analysis.protocols.selected_configs import (
    ALPHA,
    Row,
    better_first,
    non_leaking,
    pick_differences,
    pick_means,
    picks_phrase,
    ranked_means,
)
from podium.analysis.scores.protocol_run_checks import SEARCH
from podium.analysis.wording import (
    MOST_NAMED,
    counted,
    duration,
    listed,
    number,
    p_equals,
    range_of,
    signed,
)

_POINTS = 100

_STATISTICS = {
    "finals": "Gain of the training classes",
    "final_differences": "Differences between protocols",
    "scale": "Picks on one scale",
    "own": "Regret and rank agreement by other runs of the protocol",
    "optimism_over_classes": "Optimism by halves of the validation classes",
    "optimism_over_runs": "Optimism by fresh runs",
}


def protocol_sentences(study: ProtocolStudy) -> tuple[str, ...]:
    """What qualifies the headline, strongest statement first."""
    return (
        *_unequal_searches(study),
        *_differences(study),
        *_costs(study),
        *_final_gains(study),
        *_leaking(study),
        *_agreement(study),
        *_optimism(study),
        _reading_sentence(study),
    )


def missing_statistics(study: ProtocolStudy) -> tuple[str, ...]:
    """One sentence for each statistic that is missing wholly or in part, with the reason."""
    return tuple(
        f"{what}: {study.reasons[name]}."
        for name, what in _STATISTICS.items()
        if name in study.reasons
    )


def _unequal_searches(study: ProtocolStudy) -> Iterator[str]:
    """In what the searches differ, which limits what can be said of them."""
    tried = study.runs.group_by(SEARCH).agg(pl.col("config").n_unique())["config"]
    if behind := int((tried < study.num_configs).sum()):
        yield (
            f"{behind:,} of {counted(len(tried), 'search', 'searches')} tried fewer configs than"
            f" the others, which tried {study.num_configs}: what they picked is the best of"
            " fewer."
        )
    if study.same_splits and study.num_repeats > 1:
        yield (
            "All repeats have the same splits: intervals and verdicts over repeats speak of these"
            " splits, and others may give other ones (search.splits: fresh)."
        )


def _differences(study: ProtocolStudy) -> Iterator[str]:
    """Which protocols that do not leak differ significantly in what they pick."""
    rows = pick_differences(study, non_leaking(study))
    known = [row for row in rows if row["p_holm"] is not None]
    if not rows:
        return
    if not known:
        yield (
            "This study cannot test whether protocols differ: it takes three repeats of each"
            " search, in which they do not all pick the same."
        )
        return
    different = [better_first(row) for row in known if row["p_holm"] <= ALPHA]
    for row in different[:MOST_NAMED]:
        other = picks_phrase(study, [row["b"]])
        yield (
            f"{picks_phrase(study, [row['a']])} scored {number(_POINTS * row['mean'])} points more"
            f" than {other[0].lower()}{other[1:]} ({_interval(row)}; {p_equals(row['p_holm'])},"
            " Holm)."
        )
    level = f"at {100 * ALPHA:g} %"
    if len(rows) == 1 and not different:
        yield f"{rows[0]['a']} and {rows[0]['b']} do not differ significantly {level}."
    elif not different:
        yield f"None of the {len(rows)} pairs of protocols differ significantly {level}."
    elif len(different) < len(rows):
        others = counted(len(rows) - len(different), "other pair")
        yield f"{others} did not differ significantly {level}."


def _costs(study: ProtocolStudy) -> Iterator[str]:
    """What a search costs, and which protocols are on the Pareto front."""
    rows = sorted(
        (row for row in study.costs.to_dicts() if row["hours_per_search"]),
        key=lambda row: (row["hours_per_search"], row["protocol"]),
    )
    if len(rows) < 2:
        return
    cheapest, *others = rows
    times = [
        f"{_times(row['hours_per_search'] / cheapest['hours_per_search'])} under"
        f" {study.shown[row['protocol']]}"
        for row in others
    ]
    yield (
        f"A search takes {duration(3600 * cheapest['hours_per_search'])} under"
        f" {study.shown[cheapest['protocol']]}, {listed(times)}."
    )
    compared = [row for row in rows if row["on_front"] is not None]
    front = [row["protocol"] for row in compared if row["on_front"]]
    if len(compared) > 1:
        yield (
            "By these estimates, no protocol that does not leak both costs and regrets less than"
            f" {listed(front, last='or')}."
        )


def _times(ratio: float) -> str:
    text = number(ratio, 1)
    return "as long" if text == "1.0" else f"{text} times as long"


def _final_gains(study: ProtocolStudy) -> Iterator[str]:
    """Gains of tuning and of all training classes, under the first protocol without a leak."""
    label = next(iter(non_leaking(study)), study.order[0])
    tuning = row_of(study.finals.means, "tuning", protocol=label)
    classes = row_of(study.finals.means, "classes", protocol=label)
    refit = row_of(study.finals.means, "tuning_all", protocol=label)
    shown = study.shown[label]
    if tuning is not None:
        more = f", and all training classes {_gain(classes)} more" if classes else ""
        yield (
            f"Under {shown}, tuning gained {_gain(tuning)} on test over the published"
            f" default{more}."
        )
    elif refit is not None:
        yield (
            f"Under {shown}, tuning gained {_gain(refit)} on test over the published default, both"
            " trained on all training classes."
        )


def _leaking(study: ProtocolStudy) -> Iterator[str]:
    """What tuning on test seems to gain, and what it gains on one scale."""
    reported = ranked_means(study.finals.means, "tuned_part", non_leaking(study))
    means, measure, _ = pick_means(study)
    picked = (
        ranked_means(means, measure, non_leaking(study)) if study.picks.scale is not None else []
    )
    for protocol in study.protocols:
        if not protocol.leaks:
            continue
        row = row_of(study.finals.means, "tuned_part", protocol=protocol.label)
        if reported and row is not None:
            best, value = reported[0]
            yield (
                f"{protocol.shown} reports {signed(_POINTS * (row['mean'] - value))} points over"
                f" {best}, the best of the others: it trains on all classes, and what it reports"
                " is what chose epoch and config."
            )
        on_scale = pick_differences(study, [picked[0][0], protocol.label]) if picked else []
        for pair in (better_first(row) for row in on_scale):
            yield (
                f"On one scale, what {study.shown[pair['a']]} picks scores"
                f" {number(_POINTS * pair['mean'])} points more than what"
                f" {study.shown[pair['b']]} picks ({_interval(pair)})."
            )


def _agreement(study: ProtocolStudy) -> Iterator[str]:
    """Whether validation orders configs as test does."""
    if study.picks.fairest is None:
        return
    taus = ranked_means(study.picks.fairest.means, "tau", study.order)
    if not taus:
        return
    named = listed([f"{number(tau)} under {study.shown[label]}" for label, tau in taus])
    ceilings = [
        value for _, value in ranked_means(study.picks.fairest.means, "ceiling", study.order)
    ]
    bound = ""
    if ceilings:
        low, high = number(min(ceilings)), number(max(ceilings))
        several = low if low == high else f"{low} to {high}"
        bound = f"; two halves of the test runs, each noisier than all, agree with {several}"
    yield f"Validation orders configs as test does with Kendall's tau {named}{bound}."


def _optimism(study: ProtocolStudy) -> Iterator[str]:
    """Optimism of the validation scores of picks."""
    fresh = ranked_means(study.optimism_over_runs, "fresh", study.order)
    if fresh:
        losses = [f"{number(_POINTS * value)} under {study.shown[name]}" for name, value in fresh]
        yield (
            "Optimism (selection bias) of a pick's validation score in points, as fresh runs on"
            f" the same classes show: {listed(losses)}."
        )


def _reading_sentence(study: ProtocolStudy) -> str:
    """How often test classes were scored, and how often by trials that they chose."""
    total = int(study.readings["readings"].sum())
    leaking = study.readings.filter("leaks")
    if not total:
        return "Test classes have not been scored yet."
    text = f"Test classes were scored {'once' if total == 1 else f'{total:,} times'}"
    if leaking.is_empty():
        return f"{text}; they chose no epoch and no config."
    count = int(leaking["readings"].sum())
    names = [study.shown[label] for label in study.order if label in set(leaking["protocol"])]
    return (
        f"{text}, {count:,} of these by trials whose epoch or config they chose: {listed(names)}."
    )


def _gain(row: Row) -> str:
    points = f"{signed(_POINTS * row['mean'])} points"
    return points if row["low"] is None else f"{points} ({_interval(row)})"


def _interval(row: Row) -> str:
    low, high = row["low"], row["high"]
    if low is None:
        return "no interval"
    return range_of(_POINTS * low, _POINTS * high)
