"""The tables on a study's protocols, which the terminal and the page of a study both show.

Columns that no row has a value for are left out, as are rows without any; a table of which nothing
is left is None.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from podium.analysis.figures.series import series_of
from podium.analysis.page.tables import PERCENT, Cell, Column, Table, table
from podium.analysis.protocols.protocol_study import ProtocolStudy
from podium.analysis.scores.protocol_runs import Protocol
from podium.analysis.wording import (
    MISSING,
    duration,
    in_percent,
    number,
    percent,
    range_below,
    signed,
)

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
    "gpu_hours": "Total",
    "search_hours": "Searches",
    "final_hours": "Finals",
    "pruned_hours": "Pruned",
    "failed_hours": "Failed",
    "repeated_hours": "Repeated",
    "hours_per_search": "One search",
}
_WASTED = ("pruned_hours", "failed_hours", "repeated_hours")
_NOTHING = Cell(text=MISSING)
_NO_INTERVALS = "; no intervals, which take three repeats that do not all agree"


def protocol_tables(study: ProtocolStudy) -> list[Table]:
    """All tables that the study can fill, each protocol's answer before what explains it."""
    tables = (
        finals_table(study),
        tuning_table(study),
        pick_table(study),
        agreement_table(study),
        pair_table(study),
        cost_table(study),
        optimism_table(study),
        readings_table(study),
    )
    return [found for found in tables if found is not None]


def finals_table(study: ProtocolStudy) -> Table | None:
    """Test scores of the finalists: default and tuned, on a part and on all classes."""
    means = study.finals.means
    return _table(
        study,
        *(_mean(label, means, measure) for measure, label in _FINALISTS.items()),
        name="protocol-finals",
        caption=f"{study.metric} of finalists on test, in %"
        f"{intervals_over(means, study.finals.unit)}.",
    )


def tuning_table(study: ProtocolStudy) -> Table | None:
    """Differences between finalists, and how often the default won its search."""
    means = study.finals.means
    return _table(
        study,
        *(_mean(label, means, measure, is_gain=True) for measure, label in _GAINS.items()),
        Column.count("Default won", lambda it: study.finals.num_kept.get(it.label)),
        name="protocol-gains",
        caption="Gains on test by tuning and by all training classes, in points"
        f"{intervals_over(means, study.finals.unit)}.",
    )


def pick_table(study: ProtocolStudy) -> Table | None:
    """Test scores and regret of picks, and how often the pick was the best config."""
    found = study.picks.fairest
    if found is None:
        return None
    rate = _rows_of(found.pick_rates)
    chance = _rows_of(found.pick_rates.select("protocol", "chance"))
    if study.picks.scale is None:
        runs = "the protocol's own runs in other repeats, so their levels differ"
    else:
        runs = (
            f"runs of {study.scale_shown} in other repeats, which trained every config on all"
            " classes"
        )
    return _table(
        study,
        _mean("Test, %", found.means, "picked_test"),
        _mean("Regret, points", found.means, "regret"),
        Column(label="Picked the best", cell=lambda it: _share(rate(it), "rate")),
        Column(label="By chance", cell=lambda it: _share(chance(it), "chance")),
        name="protocol-picks-table",
        caption=f"What was picked, scored by {runs}{intervals_over(found.means)}.",
        note="Picked the best: share of searches whose pick is best on the mean of these runs,"
        " with Wilson's interval; by chance: a random pick. A regret below zero means that the"
        " runs cannot tell the pick from the best.",
    )


def agreement_table(study: ProtocolStudy) -> Table | None:
    """Rank agreement of validation with test, and its noise ceiling."""
    found = study.picks.fairest
    if found is None:
        return None
    means = found.means
    near = _rows_of(means.filter(measure="at_ceiling"))
    return _table(
        study,
        _mean("Tau", means, "tau", factor=1),
        _mean("Two halves", means, "ceiling", factor=1),
        Column(label="Within 1 se", cell=lambda it: _share(near(it), "mean")),
        name="protocol-agreement",
        caption="Rank agreement of validation and test over configs, mean over searches"
        f"{intervals_over(means)}.",
        note="Tau: Kendall's tau of validation and test. Two halves: that of two halves of the"
        " test runs, each noisier than all runs; validation can hardly agree better. Within 1 se:"
        " configs within one standard error of the best.",
    )


def pair_table(study: ProtocolStudy) -> Table | None:
    """Pairwise comparisons of protocols."""
    by_label = {protocol.label: protocol for protocol in study.protocols}
    frames = {
        "Tuned": (study.finals.differences, "tuned_part"),
        "All classes": (study.finals.differences, "tuned_all"),
    }
    if study.picks.fairest is not None:
        name, measure = ("Picks", "picked_test") if study.picks.scale else ("Regret", "regret")
        frames[name] = (study.picks.fairest.differences, measure)

    def differences(label: str, frame: pl.DataFrame, measure: str) -> tuple[Column, Column]:
        def row(pair: Mapping[str, str]) -> dict[str, Any] | None:
            return row_of(frame, measure, a=pair["a"], b=pair["b"])

        return (
            Column(label=label, cell=lambda pair: mean_cell(row(pair), is_gain=True)),
            Column.p_value("p", lambda pair: (row(pair) or {}).get("p_holm")),
        )

    named = protocol_column(study)

    def side(label: str, key: str) -> Column:
        return replace(named, label=label, cell=lambda pair: named.cell(by_label[pair[key]]))

    return table(
        study.finals.differences.select("a", "b").unique(maintain_order=True),
        (
            side("First", "a"),
            side("Second", "b"),
            *(column for head, found in frames.items() for column in differences(head, *found)),
        ),
        name="protocol-pairs",
        caption="Pairwise comparisons of protocols: first minus second on test, in points, paired"
        " by search.",
        note="p: two-sided t test over repeats, adjusted after Holm over the pairs of a column.",
    ).filled(num_names=2)


def cost_table(study: ProtocolStudy) -> Table | None:
    """Time by protocol and by what it was spent on, regret, and the Pareto front of both."""
    of = _rows_of(study.costs)

    def hours(name: str, label: str) -> Column:
        def cell(protocol: Protocol) -> Cell:
            spent = of(protocol).get(name)
            if spent is None or (name in _WASTED and not spent):
                return _NOTHING
            return Cell(text=duration(3600 * spent), order=spent)

        return Column(label=label, cell=cell)

    shared = ""
    if study.num_copies:
        shared = (
            f" Actually spent: {duration(3600 * study.spent_hours)}, since"
            f" {study.num_copies} final trials served several searches."
        )
    what = "GPU time" if study.has_gpus else "Training time without a GPU"
    return _table(
        study,
        *(hours(name, label) for name, label in _HOURS.items()),
        Column.share("Regret, points", lambda it: of(it).get("regret")),
        Column.text(
            "On front", lambda it: {True: "yes", False: "no", None: None}[of(it).get("on_front")]
        ),
        name="protocol-costs",
        caption=f"{what}, of all attempts, with or without a result; each protocol as if it had"
        " been run alone.",
        note="On front: no other protocol that does not leak has both a lower cost and a lower"
        f" regret.{shared}",
    )


def optimism_table(study: ProtocolStudy) -> Table | None:
    """Optimism (selection bias) of the pick over runs and over classes, and overtuning."""
    found = study.picks.fairest
    over_runs, over_classes = study.optimism_over_runs, study.optimism_over_classes
    over = intervals_over(pl.concat([over_runs, over_classes]))
    return _table(
        study,
        _mean("Of its run", over_runs, "fresh"),
        _mean("Of classes", over_classes, "optimism"),
        _mean("Classes, by epoch", over_classes, "epoch"),
        _mean("Classes, by config", over_classes, "config"),
        _mean("Overtuning", found.means, "overtuning") if found else None,
        name="protocol-optimism",
        caption="Optimism (selection bias) of the validation scores of picks, and overtuning: the"
        f" loss on test from searching longer; points{over}.",
        note="Of its run: minus fresh runs on the same classes. Of classes: selected on one half"
        " of the validation classes, scored on the other.",
    )


def readings_table(study: ProtocolStudy) -> Table | None:
    """How often test classes were scored, by protocol and stage."""
    of_label = {protocol.label: protocol for protocol in study.protocols}
    named = protocol_column(study)

    def protocol(row: Mapping[str, Any]) -> Cell:
        # The untrained network is stored under the first protocol, and belongs to none.
        return _NOTHING if row["stage"] == "baseline" else named.cell(of_label[row["protocol"]])

    return table(
        study.in_order(study.readings),
        (
            replace(named, cell=protocol),
            Column.text("Stage", "stage"),
            Column.count("Times", "readings"),
            Column.count("Trials", "trials"),
            Column.text(
                "Selected by them", lambda row: "epoch or config" if row["leaks"] else "nothing"
            ),
        ),
        name="test-readings",
        caption="How often test classes were scored.",
        note="A trial that serves two searches was scored once.",
    ).filled()


def _table(
    study: ProtocolStudy, *columns: Column | None, name: str, caption: str, note: str = ""
) -> Table | None:
    """A row for each protocol that has a value; None if none has."""
    every = (protocol_column(study), *columns)
    return table(study.protocols, every, name=name, caption=caption, note=note).filled()


def protocol_column(study: ProtocolStudy) -> Column:
    """Protocols with their markers, sorted in the study's order."""
    looks = series_of(study.order)

    def cell(protocol: Protocol) -> Cell:
        order = study.order.index(protocol.label)
        return Cell(text=protocol.shown, series=looks[protocol.label], order=order)

    return Column(label="Protocol", cell=cell, is_number=False)


def row_of(means: pl.DataFrame, measure: str, **keys: str) -> dict[str, Any] | None:
    """The row of a frame of ``group_means``; None if it is missing or has no mean."""
    if means.is_empty():
        return None
    found = means.filter(
        pl.col("measure") == measure,
        pl.col("mean").is_not_null(),
        *(pl.col(name) == value for name, value in keys.items()),
    )
    return found.row(0, named=True) if len(found) else None


def intervals_over(means: pl.DataFrame, unit: str = "repeats") -> str:
    """What the intervals of a frame are over, for a caption, or what they take."""
    if means.is_empty():
        return ""
    return f"; 95 % intervals over {unit}" if means["low"].count() else _NO_INTERVALS


def mean_cell(
    row: Mapping[str, Any] | None, *, factor: float = PERCENT, is_gain: bool = False
) -> Cell:
    """A mean with its interval below; a gain has a sign; a dash without a row."""
    if row is None:
        return _NOTHING
    low, high = row["low"], row["high"]
    value = factor * row["mean"]
    text = signed(value) if is_gain else number(value)
    if low is None or high is None:
        return Cell(text=text, order=value)
    return Cell(
        text=text,
        order=value,
        detail=range_below(factor * low, factor * high),
        margin=number(factor * (high - row["mean"])),
    )


def _mean(
    label: str,
    means: pl.DataFrame,
    measure: str,
    *,
    factor: float = PERCENT,
    is_gain: bool = False,
) -> Column:
    """Means of the protocols, from a frame of ``group_means``."""

    def cell(protocol: Protocol) -> Cell:
        row = row_of(means, measure, protocol=protocol.label)
        return mean_cell(row, factor=factor, is_gain=is_gain)

    return Column(label=label, cell=cell)


def _rows_of(frame: pl.DataFrame) -> Callable[[Protocol], Mapping[str, Any]]:
    """The row of a protocol in a frame with one for each; empty without one."""
    rows = {row["protocol"]: row for row in frame.to_dicts()}
    return lambda protocol: rows.get(protocol.label, {})


def _share(row: Mapping[str, Any], name: str) -> Cell:
    """A share of 1 in percent, with the interval of the row; a dash without it."""
    if row.get(name) is None:
        return _NOTHING
    detail = range_below(in_percent(row.get("low")), in_percent(row.get("high")), 0)
    return Cell(text=percent(row[name]), order=row[name], detail=detail)
