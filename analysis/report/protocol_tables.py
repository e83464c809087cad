"""Tables of the section on protocols: what they selected, how well, and at what cost."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from analysis.figures.estimate import Estimate
from analysis.figures.style import Series
from analysis.page.html_page import Cell, Column, Table
from analysis.protocols.protocol_study import ProtocolStudy
from analysis.protocols.selection_quality import SelectionQuality
from analysis.study_results.study_results import PERCENT
from analysis.wording import MISSING, duration, number, p_value, percent, range_of, signed

__all__ = [
    "agreement_table",
    "best_table",
    "cost_table",
    "estimate",
    "mean_cell",
    "optimism_table",
    "over",
    "pair_table",
    "pick_table",
    "readings_table",
    "row_of",
]

_Looks = Mapping[str, Series]

_FINALISTS = {
    "default_part": "Default",
    "tuned_part": "Tuned",
    "default_all": "Default, all classes",
    "tuned_all": "Tuned, all classes",
}
_PICKS = {"picked_test": "Pick, other runs", "regret": "Regret, points"}
_RANDOM_PICK = (
    "Picked the best: share of searches whose pick is best on the mean of these runs, with"
    " Wilson's interval; a random pick is in {:.0%} of them. A regret below zero means that the"
    " runs cannot tell the pick from the best."
)


def pick_table(study: ProtocolStudy, series: _Looks) -> Table:
    """Test scores of what each protocol selected: finals, and other runs of the same config."""
    found = study.picks.fairest
    rates = {row["protocol"]: row for row in found.pick_rates.to_dicts()} if found else {}
    rows = []
    for label in study.order:
        keys = {"protocol": label}
        cells = [mean_cell(row_of(study.finals.means, name, **keys)) for name in _FINALISTS]
        if found:
            cells += [mean_cell(row_of(found.means, measure, **keys)) for measure in _PICKS]
            rate = rates.get(label)
            cells.append(
                Cell(
                    text=percent(rate["rate"]) if rate else MISSING,
                    detail=range_of(PERCENT * rate["low"], PERCENT * rate["high"], 0)
                    if rate
                    else "",
                    order=rate["rate"] if rate else None,
                )
            )
        rows.append((_name_cell(study, label, series), *cells))
    heads = list(_FINALISTS.values())
    if found:
        heads += [*_PICKS.values(), "Picked the best"]
    return Table(
        name="protocol-picks-table",
        caption=f"{study.metric} of finalists on test, in %"
        f"{over(study.finals.means, study.finals.unit)}." + (_scored_by(study) if found else ""),
        columns=(Column(label="Protocol", is_number=False), *(Column(label=h) for h in heads)),
        rows=tuple(rows),
        note=_RANDOM_PICK.format(1 / study.design.num_configs) if found else "",
    )


def pair_table(study: ProtocolStudy, series: _Looks) -> Table | None:
    """Pairwise comparisons of protocols; None with a single one."""
    frames = {}
    if study.finals.means.filter(pl.col("measure") == "tuned_part")["mean"].count():
        frames["Tuned"] = (study.finals.differences, "tuned_part")
    if study.finals.means.filter(pl.col("measure") == "tuned_all")["mean"].count():
        frames["Tuned, all classes"] = (study.finals.differences, "tuned_all")
    if study.picks.fairest is not None:
        name, measure = ("Pick", "picked_test") if study.picks.scale else ("Regret", "regret")
        frames[name] = (study.picks.fairest.differences, measure)
    pairs = study.finals.differences.select("a", "b").unique(maintain_order=True)
    if pairs.is_empty():
        return None
    rows = []
    for a, b in pairs.iter_rows():
        cells = []
        for frame, measure in frames.values():
            row = row_of(frame, measure, a=a, b=b)
            cells += [
                mean_cell(row, is_gain=True),
                _p(row["p_holm"] if row else None),
            ]
        rows.append((_name_cell(study, a, series), _name_cell(study, b, series), *cells))
    heads = [head for name in frames for head in (name, "p (Holm)")]
    return Table(
        name="protocol-pairs",
        caption="Pairwise comparisons of protocols: first minus second on test, in points, paired"
        " by"
        " search",
        columns=(
            Column(label="First", is_number=False),
            Column(label="Second", is_number=False),
            *(Column(label=head) for head in heads),
        ),
        rows=tuple(rows),
        note="p: two-sided t test over repeats (of the final stage with a single one: over"
        " blocks), adjusted after Holm over the pairs of a column.",
    )


def agreement_table(study: ProtocolStudy, found: SelectionQuality, series: _Looks) -> Table:
    """Rank agreement of validation and test."""
    rows = []
    for label in study.order:
        keys = {"protocol": label}
        rows.append(
            (
                _name_cell(study, label, series),
                mean_cell(row_of(found.means, "tau", **keys), factor=1),
                mean_cell(row_of(found.means, "ceiling", **keys), factor=1),
                mean_cell(row_of(found.means, "at_ceiling", **keys)),
                mean_cell(row_of(study.picks.same_run, "own_tau", **keys), factor=1),
                mean_cell(row_of(study.picks.same_run, "naive_regret", **keys)),
            )
        )
    heads = (
        "Kendall's tau",
        "Two halves of test",
        "Within 1 se of best, %",
        "Tau, own runs",
        "Naive regret, points",
    )
    return Table(
        name="protocol-agreement",
        caption="Rank agreement of validation and test over configs, mean over searches"
        f"{over(found.means)}.",
        columns=(Column(label="Protocol", is_number=False), *(Column(label=h) for h in heads)),
        rows=tuple(rows),
        note="Two halves: the agreement of two halves of the test runs, each noisier than all"
        " runs;"
        " validation can hardly agree better. In own runs validation and test share the noise of"
        " the run; in the naive regret too, which is also biased upwards.",
    )


def optimism_table(study: ProtocolStudy, series: _Looks) -> Table:
    """Optimism (selection bias) of both kinds, and overtuning."""
    sources = [
        ("Of its run", study.optimism.over_runs, "fresh"),
        ("Of classes", study.optimism.over_classes, "optimism"),
        ("… by epoch", study.optimism.over_classes, "epoch"),
        ("… by config", study.optimism.over_classes, "config"),
    ]
    if study.picks.fairest is not None:
        sources.append(("Overtuning", study.picks.fairest.means, "overtuning"))
    rows = tuple(
        (
            _name_cell(study, label, series),
            *(mean_cell(row_of(means, measure, protocol=label)) for _, means, measure in sources),
        )
        for label in study.order
    )
    repeated = over(study.optimism.over_runs) or over(study.optimism.over_classes)
    return Table(
        name="protocol-optimism",
        caption="Optimism (selection bias) of the validation scores of picks, and overtuning: the"
        " loss"
        f" on test from searching longer; points{repeated}.",
        columns=(
            Column(label="Protocol", is_number=False),
            *(Column(label=name) for name, _, _ in sources),
        ),
        rows=rows,
        note="Of its run: minus fresh runs on the same classes. Of classes: selected on one half"
        " of"
        " the validation classes, scored on the other.",
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


def estimate(row: Mapping[str, Any] | None, *, factor: float = PERCENT) -> Estimate | None:
    """A mean with its interval over repeats or seeds, else over blocks, for a figure."""
    if row is None:
        return None
    low, high = _ends(row)
    return Estimate(
        value=factor * row["mean"],
        low=None if low is None else factor * low,
        high=None if high is None else factor * high,
    )


def mean_cell(
    row: Mapping[str, Any] | None, *, factor: float = PERCENT, is_gain: bool = False
) -> Cell:
    """A mean with its interval below it; a gain has a sign."""
    if row is None:
        return Cell(text=number(None))
    low, high = _ends(row)
    value = factor * row["mean"]
    interval = "" if low is None or high is None else range_of(factor * low, factor * high)
    return Cell(text=signed(value) if is_gain else number(value), detail=interval, order=value)


def over(means: pl.DataFrame, unit: str = "repeats") -> str:
    """What the intervals of a frame are over, for a caption; empty without any."""
    if means.is_empty():
        return ""
    if means["low"].count():
        return f"; 95 % intervals over {unit}"
    return "; 95 % intervals over blocks" if means["block_low"].count() else ""


def cost_table(study: ProtocolStudy, series: _Looks) -> Table:
    """Time by protocol and by what it was spent on."""
    columns = {
        "Total": "gpu_hours",
        "Searches": "search_hours",
        "Finals": "final_hours",
        "Pruned": "pruned_hours",
        "Failed": "failed_hours",
        "Repeated": "repeated_hours",
        "One search": "hours_per_search",
    }
    costs = {row["protocol"]: row for row in study.costs.by_protocol.to_dicts()}
    rows = []
    for label in (label for label in study.order if label in costs):
        row = costs[label]
        front = {True: "yes", False: "no", None: MISSING}[row["on_front"]]
        rows.append(
            (
                _name_cell(study, label, series),
                *(_time(row[column]) for column in columns.values()),
                _share(row["regret"]),
                Cell(text=front),
            )
        )
    shared = ""
    if study.costs.num_copies:
        shared = (
            f" Actually spent: {duration(3600 * study.costs.spent_hours)}, since"
            f" {study.costs.num_copies} final trials served several searches."
        )
    return Table(
        name="protocol-costs",
        caption=f"{'GPU time' if study.design.has_gpus else 'Time'} of all attempts, with or"
        " without a result; each protocol as if it had been run alone",
        columns=(
            Column(label="Protocol", is_number=False),
            *(Column(label=name) for name in columns),
            Column(label="Regret, points"),
            Column(label="On the front", is_number=False),
        ),
        rows=tuple(rows),
        note="On the front: no other protocol that does not leak has both a lower cost and a lower"
        f" regret.{shared}",
    )


def best_table(study: ProtocolStudy, series: _Looks) -> Table | None:
    """Expected best of so many random trials; None without random searches."""
    if study.costs.best_of_trials.is_empty():
        return None
    return Table(
        name="protocol-best",
        caption="Expected best of so many random trials, mean over searches; the published default"
        " is no random draw and left out",
        columns=(
            Column(label="Protocol", is_number=False),
            *(Column(label=h) for h in ("Trials", "Validation, %", "Its test, %", "Time")),
        ),
        rows=tuple(
            (
                _name_cell(study, row["protocol"], series),
                Cell(text=str(row["num_trials"]), order=row["num_trials"]),
                _share(row["val"]),
                _share(row["test"]),
                _time(row["hours"]),
            )
            for row in study.in_order(study.costs.best_of_trials)
        ),
    )


def readings_table(study: ProtocolStudy) -> Table:
    """How often test classes were scored."""
    return Table(
        name="test-readings",
        caption="How often test classes were scored",
        columns=(
            Column(label="Protocol", is_number=False),
            Column(label="Stage", is_number=False),
            Column(label="Times"),
            Column(label="Trials"),
            Column(label="Selected by them", is_number=False),
        ),
        rows=tuple(
            (
                # The untrained network is stored under the first protocol, and belongs to none.
                Cell(text=MISSING if row["stage"] == "baseline" else study.shown[row["protocol"]]),
                Cell(text=row["stage"]),
                Cell(text=f"{row['readings']:,}", order=row["readings"]),
                Cell(text=f"{row['trials']:,}", order=row["trials"]),
                Cell(text="epoch or config" if row["leaks"] else "nothing"),
            )
            for row in study.in_order(study.readings)
        ),
        note="A trial that serves two searches was scored once.",
    )


def _scored_by(study: ProtocolStudy) -> str:
    if study.picks.scale is not None:
        return (
            f" Other runs are those of {study.scale_shown}, which trained every config on all"
            " classes, in other repeats: one scale for all protocols."
        )
    return " Other runs are the protocol's own in other repeats: their levels differ."


def _p(value: float | None) -> Cell:
    return Cell(text=p_value(value), order=value)


def _name_cell(study: ProtocolStudy, label: str, series: Mapping[str, Series]) -> Cell:
    """The protocol with its marker, and whether it leaks."""
    return Cell(text=study.shown[label], series=series[label], order=study.order.index(label))


def _ends(row: Mapping[str, Any]) -> tuple[float | None, float | None]:
    prefix = "block_" if row["low"] is None else ""
    return row[f"{prefix}low"], row[f"{prefix}high"]


def _time(hours: float | None) -> Cell:
    return Cell(text=duration(None if hours is None else 3600 * hours), order=hours)


def _share(value: float | None) -> Cell:
    in_percent = None if value is None else PERCENT * value
    return Cell(text=number(in_percent), order=in_percent)
