"""What a study says of its protocols, in plain sentences."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import polars as pl

from analysis.protocol_study import ProtocolStudy
from analysis.wording import (
    MOST_NAMED,
    counted,
    duration,
    listed,
    number,
    p_equals,
    range_of,
    signed,
)

__all__ = ["ALPHA", "oriented", "protocol_headline", "protocol_sentences", "reading_sentence"]

ALPHA = 0.05
"""Level of the verdicts on pairs of protocols."""

_POINTS = 100

_Row = Mapping[str, Any]


def protocol_headline(study: ProtocolStudy) -> str:
    """Whose picks are best on test; empty with fewer than two protocols that do not leak."""
    means, measure, how = _pick_means(study)
    found = _ranked(means, measure, _honest(study))
    if len(found) < 2:
        return ""
    (best, value), (second, behind) = found[:2]
    if value == behind:
        lead = f"as good as what {second} picked"
    else:
        lead = f"{number(_POINTS * (value - behind))} points above the next, {second}"
    return (
        f"What {best} picked is best on test: {study.metric} {number(_POINTS * value)} %, {lead}"
        f" ({how})."
    )


def _pick_means(study: ProtocolStudy) -> tuple[pl.DataFrame, str, str]:
    """The fairest scores of picks that there are: means, measure, and how they came about."""
    if study.scale is not None:
        how = "all picks scored by the same networks, trained on all classes"
        return study.scale.means, "picked_test", how
    if _ranked(study.finals, "tuned_all", study.order):
        return study.finals, "tuned_all", "retrained on all training classes"
    return study.finals, "tuned_part", "retrained on what the final stage trains on"


def protocol_sentences(study: ProtocolStudy) -> tuple[str, ...]:
    """What qualifies the headline, strongest statement first."""
    return (
        *_differences(study),
        *_costs(study),
        *_ladder(study),
        *_leaking(study),
        *_agreement(study),
        *_optimism(study),
        reading_sentence(study),
    )


def reading_sentence(study: ProtocolStudy) -> str:
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


def oriented(row: _Row, *, by_blocks: bool) -> dict[str, Any]:
    """A pair of protocols with the better one first: ``a``, ``b``, ``mean``, ``low``, ``high``.

    Args:
        row: of ``paired_differences``.
        by_blocks: whether the interval is that over blocks.
    """
    prefix = "block_" if by_blocks else ""
    low, high = row[f"{prefix}low"], row[f"{prefix}high"]
    found = {**row, "low": low, "high": high}
    if row["mean"] is None or row["mean"] >= 0:
        return found
    turned = {"a": row["b"], "b": row["a"], "mean": -row["mean"]}
    return {**found, **turned, "low": _minus(high), "high": _minus(low)}


def _oriented(study: ProtocolStudy, row: _Row) -> dict[str, Any]:
    return oriented(row, by_blocks=study.scale is None and study.unit == "seeds")


def _minus(value: float | None) -> float | None:
    return None if value is None else -value


def _differences(study: ProtocolStudy) -> Iterator[str]:
    """Which protocols that do not leak differ for certain in what they pick."""
    rows = _pairs(study, _honest(study))
    known = [row for row in rows if row["p_holm"] is not None]
    if not rows:
        return
    if not known:
        yield (
            "Whether protocols differ cannot be told from this study: it takes several repeats of"
            " each search, or several blocks."
        )
        return
    apart = [_oriented(study, row) for row in known if row["p_holm"] <= ALPHA]
    for row in apart[:MOST_NAMED]:
        yield (
            f"{row['a']} picked better than {row['b']} by {number(_POINTS * row['mean'])} points"
            f" ({_interval(row)}; {p_equals(row['p_holm'])}, Holm)."
        )
    level = f"at {100 * ALPHA:g} %"
    if len(rows) == 1 and not apart:
        yield f"{rows[0]['a']} and {rows[0]['b']} cannot be told apart {level}."
    elif not apart:
        yield f"None of the {counted(len(rows), 'pair')} of protocols can be told apart {level}."
    elif len(apart) < len(rows):
        yield f"{counted(len(rows) - len(apart), 'other pair')} cannot be told apart {level}."


def _costs(study: ProtocolStudy) -> Iterator[str]:
    """What a search costs, and which protocols are worth it."""
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
            "Of the protocols that do not leak, none both costs and regrets less than"
            f" {listed(front, last='or')}."
        )


def _times(ratio: float) -> str:
    text = number(ratio, 1)
    return "as long" if text == "1.0" else f"{text} times as long"


def _ladder(study: ProtocolStudy) -> Iterator[str]:
    """What tuning bought and what training classes bought, under the first honest protocol."""
    label = next(iter(_honest(study)), study.order[0])
    tuning = _row(study.finals, label, "tuning")
    classes = _row(study.finals, label, "classes")
    if tuning is None:
        return
    more = f", and all training classes {_gain(classes)} more" if classes else ""
    yield (
        f"Under {study.shown[label]}, tuning bought {_gain(tuning)} on test over the published"
        f" default{more}."
    )


def _leaking(study: ProtocolStudy) -> Iterator[str]:
    """What tuning on test seems to buy, and what it buys on one scale."""
    honest = _honest(study)
    told = _ranked(study.finals, "tuned_part", honest)
    if not told:
        return
    best, value = told[0]
    for protocol in study.protocols:
        row = _row(study.finals, protocol.label, "tuned_part") if protocol.leaks else None
        if row is None:
            continue
        yield (
            f"{protocol.shown} reports {signed(_POINTS * (row['mean'] - value))} points over"
            f" {best}, the best of the others: it trains on all classes, and what it reports is"
            " what chose epoch and config."
        )
        on_scale = _pairs(study, [best, protocol.label]) if study.scale is not None else []
        for pair in (_oriented(study, row) for row in on_scale):
            yield (
                f"On one scale, what {study.shown[pair['a']]} picks is worth"
                f" {number(_POINTS * pair['mean'])} points more than what"
                f" {study.shown[pair['b']]} picks ({_interval(pair)})."
            )


def _agreement(study: ProtocolStudy) -> Iterator[str]:
    """Whether validation orders configs as test does."""
    if study.choices is None:
        return
    taus = _ranked(study.choices.means, "tau", study.order)
    if not taus:
        return
    named = listed([f"{number(tau)} under {study.shown[label]}" for label, tau in taus])
    ceilings = [value for _, value in _ranked(study.choices.means, "ceiling", study.order)]
    bound = ""
    if ceilings:
        low, high = number(min(ceilings)), number(max(ceilings))
        several = low if low == high else f"{low} to {high}"
        bound = f"; two halves of the test runs agree with {several}, and more cannot be asked for"
    yield f"Validation orders configs as test does with Kendall's tau {named}{bound}."


def _optimism(study: ProtocolStudy) -> Iterator[str]:
    """By how much its validation score flatters a pick."""
    fresh = _ranked(study.run_luck, "fresh", study.order)
    if fresh:
        losses = [f"{number(_POINTS * value)} under {study.shown[name]}" for name, value in fresh]
        yield (
            "Of a pick's validation score, so many points were luck of its run, as fresh runs on"
            f" the same classes show: {listed(losses)}."
        )


def _honest(study: ProtocolStudy) -> list[str]:
    return [protocol.label for protocol in study.protocols if not protocol.leaks]


def _pairs(study: ProtocolStudy, labels: Collection[str]) -> list[_Row]:
    """Differences of picks between these protocols."""
    _, measure, _ = _pick_means(study)
    frame = study.scale.differences if study.scale else study.final_differences
    if frame.is_empty():
        return []
    rows = frame.filter(
        pl.col("measure") == measure,
        pl.col("a").is_in(list(labels)),
        pl.col("b").is_in(list(labels)),
        pl.col("mean").is_not_null(),
    ).to_dicts()
    return list(rows)


def _ranked(means: pl.DataFrame, measure: str, labels: Collection[str]) -> list[tuple[str, float]]:
    """Protocols with a value, the largest first."""
    rows = means.filter(
        pl.col("measure") == measure,
        pl.col("mean").is_not_null(),
        pl.col("protocol").is_in(list(labels)),
    )
    ordered = rows.sort(["mean", "protocol"], descending=[True, False])
    return list(ordered.select("protocol", "mean").iter_rows())


def _row(means: pl.DataFrame, protocol: str, measure: str) -> _Row | None:
    rows = means.filter(
        pl.col("protocol") == protocol,
        pl.col("measure") == measure,
        pl.col("mean").is_not_null(),
    )
    return rows.row(0, named=True) if len(rows) else None


def _gain(row: _Row) -> str:
    points = f"{signed(_POINTS * row['mean'])} points"
    return points if row["low"] is None else f"{points} ({_interval(row)})"


def _interval(row: _Row) -> str:
    low, high = row["low"], row["high"]
    if low is None:
        return "no interval"
    return range_of(_POINTS * low, _POINTS * high)
