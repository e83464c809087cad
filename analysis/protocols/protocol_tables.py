"""The tables on a study's protocols, which the terminal and the page of a study both show.

Columns that no row has a value for are left out, as are rows without any; a table of which nothing
is left is None.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from analysis.protocols.protocol_study import ProtocolStudy
from analysis.scores.protocol_runs import Protocol
from analysis.wording import (
    duration,
    in_percent,
    number,
    p_value,
    percent,
    range_below,
    range_of,
    signed,
)

_POINTS = 100
_FINALISTS = {
    "default_part": "Default",
    "tuned_part": "Tuned",
    "default_all": "Default, all classes",
    "tuned_all": "Tuned, all classes",
}
_GAINS = {
    "tuning": "Tuning",
    "classes": "All classes",
    "both": "Both",
    "tuning_all": "Tuning on all",
}
_HOURS = {
    "Total": "gpu_hours",
    "Searches": "search_hours",
    "Finals": "final_hours",
    "Pruned": "pruned_hours",
    "Failed": "failed_hours",
    "Repeated": "repeated_hours",
    "One search": "hours_per_search",
}
_WASTED = ("Pruned", "Failed", "Repeated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number of a table.

    Attributes:
        text: the number as text.
        order: the same number with all its digits.
        interval: its 95 % interval, ``1.20 to 3.40``; else empty.
        margin: half of an interval that has the number in its middle; else empty.
    """

    text: str
    order: float
    interval: str = ""
    margin: str = ""


Entry = Protocol | Figure | str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolTable:
    """A table whose first columns name its rows.

    Attributes:
        name: name on the page, and of its CSV file.
        caption: what the table shows, without a full stop.
        heads: heads of the columns.
        rows: an entry for each column; None where there is no value.
        note: sentences that explain its numbers.
    """

    name: str
    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]
    note: str = ""

    @property
    def are_numbers(self) -> tuple[bool, ...]:
        """Of each column, whether it has numbers."""
        columns = zip(*self.rows, strict=True)
        return tuple(any(isinstance(it, Figure) for it in column) for column in columns)


def protocol_tables(study: ProtocolStudy) -> list[ProtocolTable]:
    """All tables that the study can fill, each protocol's answer before what explains it."""
    tables = (
        finals_table(study),
        tuning_table(study),
        pick_table(study),
        agreement_table(study),
        pair_table(study),
        cost_table(study),
        optimism_table(study),
        loss_table(study),
        readings_table(study),
    )
    return [table for table in tables if table is not None]


def finals_table(study: ProtocolStudy) -> ProtocolTable | None:
    """Test scores of the finalists: default and tuned, on a part and on all classes."""
    means = study.finals.means
    return _filled(
        name="protocol-finals",
        caption=f"{study.metric} of finalists on test, in %"
        f"{intervals_over(means, study.finals.unit)}",
        heads=("Protocol", *_FINALISTS.values()),
        rows=[
            (protocol, *(_mean(means, measure, protocol) for measure in _FINALISTS))
            for protocol in study.protocols
        ],
    )


def tuning_table(study: ProtocolStudy) -> ProtocolTable | None:
    """Differences between finalists, and how often the default won its search."""
    means, num_kept = study.finals.means, study.finals.num_kept
    return _filled(
        name="protocol-gains",
        caption="Gains on test by tuning and by all training classes, in points"
        f"{intervals_over(means, study.finals.unit)}",
        heads=("Protocol", *_GAINS.values(), "Default won"),
        rows=[
            (
                protocol,
                *(_mean(means, measure, protocol, is_gain=True) for measure in _GAINS),
                _count(num_kept.get(protocol.label)),
            )
            for protocol in study.protocols
        ],
    )


def pick_table(study: ProtocolStudy) -> ProtocolTable | None:
    """Test scores and regret of picks, and how often the pick was the best config."""
    found = study.picks.fairest
    if found is None:
        return None
    rates = {row["protocol"]: row for row in found.pick_rates.to_dicts()}
    return _filled(
        name="protocol-picks-table",
        caption=f"What was picked, scored by {_scoring_runs(study)}{intervals_over(found.means)}",
        heads=("Protocol", "Test, %", "Regret, points", "Picked the best", "By chance"),
        rows=[
            (
                protocol,
                _mean(found.means, "picked_test", protocol),
                _mean(found.means, "regret", protocol),
                *_rate(rates.get(protocol.label)),
            )
            for protocol in study.protocols
        ],
        note="Picked the best: share of searches whose pick is best on the mean of these runs,"
        " with Wilson's interval; by chance: a random pick. A regret below zero means that the"
        " runs cannot tell the pick from the best.",
    )


def _scoring_runs(study: ProtocolStudy) -> str:
    if study.picks.scale is None:
        return "the protocol's own runs in other repeats, so their levels differ"
    return (
        f"runs of {study.scale_shown} in other repeats, which trained every config on all classes"
    )


def agreement_table(study: ProtocolStudy) -> ProtocolTable | None:
    """Rank agreement of validation with test, and its noise ceiling."""
    found = study.picks.fairest
    if found is None:
        return None
    return _filled(
        name="protocol-agreement",
        caption="Rank agreement of validation and test over configs, mean over searches"
        f"{intervals_over(found.means)}",
        heads=("Protocol", "Tau", "Two halves", "Within 1 se"),
        rows=[
            (
                protocol,
                _mean(found.means, "tau", protocol, factor=1),
                _mean(found.means, "ceiling", protocol, factor=1),
                _mean_share(row_of(found.means, "at_ceiling", protocol=protocol.label)),
            )
            for protocol in study.protocols
        ],
        note="Tau: Kendall's tau of validation and test. Two halves: that of two halves of the"
        " test runs, each noisier than all runs; validation can hardly agree better. Within 1 se:"
        " configs within one standard error of the best.",
    )


def pair_table(study: ProtocolStudy) -> ProtocolTable | None:
    """Pairwise comparisons of protocols."""
    by_label = {protocol.label: protocol for protocol in study.protocols}
    frames = {
        "Tuned": (study.finals.differences, "tuned_part"),
        "All classes": (study.finals.differences, "tuned_all"),
    }
    if study.picks.fairest is not None:
        name, measure = ("Picks", "picked_test") if study.picks.scale else ("Regret", "regret")
        frames[name] = (study.picks.fairest.differences, measure)
    rows = []
    for a, b in study.finals.differences.select("a", "b").unique(maintain_order=True).iter_rows():
        entries: list[Entry] = [by_label[a], by_label[b]]
        for frame, measure in frames.values():
            row = row_of(frame, measure, a=a, b=b)
            p = row["p_holm"] if row else None
            entries += [
                mean_figure(row, is_gain=True),
                None if p is None else Figure(text=p_value(p), order=p),
            ]
        rows.append(tuple(entries))
    return _filled(
        name="protocol-pairs",
        caption="Pairwise comparisons of protocols: first minus second on test, in points, paired"
        " by search",
        heads=("First", "Second", *(head for name in frames for head in (name, "p"))),
        rows=rows,
        note="p: two-sided t test over repeats (of the final stage with a single one: over"
        " blocks), adjusted after Holm over the pairs of a column.",
    )


def cost_table(study: ProtocolStudy) -> ProtocolTable | None:
    """Time by protocol and by what it was spent on, regret, and the Pareto front of both."""
    costs = {row["protocol"]: row for row in study.costs.by_protocol.to_dicts()}
    rows = [
        (
            protocol,
            *(
                None if head in _WASTED and not row[column] else _time(row[column])
                for head, column in _HOURS.items()
            ),
            _points(row["regret"]),
            {True: "yes", False: "no", None: None}[row["on_front"]],
        )
        for protocol in study.protocols
        if (row := costs.get(protocol.label))
    ]
    shared = ""
    if study.costs.num_copies:
        shared = (
            f" Actually spent: {duration(3600 * study.costs.spent_hours)}, since"
            f" {study.costs.num_copies} final trials served several searches."
        )
    what = "GPU time" if study.design.has_gpus else "Time on worker slots without GPU"
    return _filled(
        name="protocol-costs",
        caption=f"{what}, of all attempts, with or without a result; each protocol as if it had"
        " been run alone",
        heads=("Protocol", *_HOURS, "Regret, points", "On front"),
        rows=rows,
        note="On front: no other protocol that does not leak has both a lower cost and a lower"
        f" regret.{shared}",
    )


def optimism_table(study: ProtocolStudy) -> ProtocolTable | None:
    """Optimism (selection bias) of the pick over runs and over classes, and overtuning."""
    optimism, found = study.optimism, study.picks.fairest
    sources = {
        "Of its run": (optimism.over_runs, "fresh"),
        "Of classes": (optimism.over_classes, "optimism"),
        "… by epoch": (optimism.over_classes, "epoch"),
        "… by config": (optimism.over_classes, "config"),
    }
    if found is not None:
        sources["Overtuning"] = (found.means, "overtuning")
    over = intervals_over(optimism.over_runs) or intervals_over(optimism.over_classes)
    return _filled(
        name="protocol-optimism",
        caption="Optimism (selection bias) of the validation scores of picks, and overtuning: the"
        f" loss on test from searching longer; points{over}",
        heads=("Protocol", *sources),
        rows=[
            (protocol, *(_mean(*source, protocol) for source in sources.values()))
            for protocol in study.protocols
        ],
        note="Of its run: minus fresh runs on the same classes. Of classes: selected on one half"
        " of the validation classes, scored on the other.",
    )


def loss_table(study: ProtocolStudy) -> ProtocolTable | None:
    """Regret of choosing a loss by its validation score."""
    return _filled(
        name="protocol-losses",
        caption="Choosing a loss by validation: regret on test, in points"
        f"{intervals_over(study.losses)}",
        heads=("Protocol", "Regret"),
        rows=[(protocol, _mean(study.losses, "regret", protocol)) for protocol in study.protocols],
    )


def readings_table(study: ProtocolStudy) -> ProtocolTable | None:
    """How often test classes were scored, by protocol and stage."""
    by_label = {protocol.label: protocol for protocol in study.protocols}
    return _filled(
        name="test-readings",
        caption="How often test classes were scored",
        heads=("Protocol", "Stage", "Times", "Trials", "Selected by them"),
        rows=[
            (
                # The untrained network is stored under the first protocol, and belongs to none.
                None if row["stage"] == "baseline" else by_label[row["protocol"]],
                row["stage"],
                _count(row["readings"]),
                _count(row["trials"]),
                "epoch or config" if row["leaks"] else "nothing",
            )
            for row in study.in_order(study.readings)
        ],
        note="A trial that serves two searches was scored once.",
    )


def _filled(
    *,
    name: str,
    caption: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[Entry]],
    note: str = "",
) -> ProtocolTable | None:
    """The table without empty columns and rows; None if nothing is left."""
    filled = [row for row in rows if any(isinstance(entry, Figure | str) for entry in row)]
    if not filled:
        return None
    kept = [any(entry is not None for entry in column) for column in zip(*filled, strict=True)]
    return ProtocolTable(
        name=name,
        caption=caption,
        heads=tuple(itertools.compress(heads, kept)),
        rows=tuple(tuple(itertools.compress(row, kept)) for row in filled),
        note=note,
    )


def row_of(means: pl.DataFrame, measure: str, **keys: str) -> dict[str, Any] | None:
    """The row of a frame of ``group_means``; None if it is missing or has no mean.

    Args:
        means: the frame.
        measure: what was measured.
        **keys: values of further columns, such as ``protocol``.
    """
    if means.is_empty():
        return None
    found = means.filter(
        pl.col("measure") == measure,
        pl.col("mean").is_not_null(),
        *(pl.col(name) == value for name, value in keys.items()),
    )
    return found.row(0, named=True) if len(found) else None


def ends_of(row: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """Interval of a row of ``group_means``: over repeats or seeds, else over blocks."""
    prefix = "block_" if row["low"] is None else ""
    return row[f"{prefix}low"], row[f"{prefix}high"]


def intervals_over(means: pl.DataFrame, unit: str = "repeats") -> str:
    """What the intervals of a frame are over, for a caption; empty without any."""
    if means.is_empty():
        return ""
    if means["low"].count():
        return f"; 95 % intervals over {unit}"
    return "; 95 % intervals over blocks" if means["block_low"].count() else ""


def mean_figure(
    row: Mapping[str, Any] | None, *, factor: float = _POINTS, is_gain: bool = False
) -> Figure | None:
    """A mean with its interval; a gain has a sign.

    Args:
        row: row of ``group_means``; None gives None.
        factor: factor from the row's unit to that of the table.
        is_gain: whether a positive mean has a sign.
    """
    if row is None:
        return None
    low, high = ends_of(row)
    value = factor * row["mean"]
    text = signed(value) if is_gain else number(value)
    if low is None or high is None:
        return Figure(text=text, order=value)
    return Figure(
        text=text,
        order=value,
        interval=range_of(factor * low, factor * high),
        margin=number(factor * (high - row["mean"])),
    )


def _mean(
    means: pl.DataFrame,
    measure: str,
    protocol: Protocol,
    *,
    factor: float = _POINTS,
    is_gain: bool = False,
) -> Figure | None:
    row = row_of(means, measure, protocol=protocol.label)
    return mean_figure(row, factor=factor, is_gain=is_gain)


def _mean_share(row: Mapping[str, Any] | None) -> Figure | None:
    return None if row is None else _share(row["mean"], *ends_of(row))


def _rate(row: Mapping[str, Any] | None) -> tuple[Figure | None, Figure | None]:
    """How often a pick was the best, with the rate's Wilson interval, and a random pick."""
    if row is None:
        return None, None
    return _share(row["rate"], row["low"], row["high"]), _share(row["chance"])


def _share(share: float, low: float | None = None, high: float | None = None) -> Figure:
    """A share of 1 in percent, with its interval."""
    interval = range_below(in_percent(low), in_percent(high), 0)
    return Figure(text=percent(share), order=share, interval=interval)


def _points(share: float | None) -> Figure | None:
    value = None if share is None else _POINTS * share
    return None if value is None else Figure(text=number(value), order=value)


def _count(value: int | None) -> Figure | None:
    return None if value is None else Figure(text=f"{value:,}", order=value)


def _time(hours: float | None) -> Figure | None:
    return None if hours is None else Figure(text=duration(3600 * hours), order=hours)
