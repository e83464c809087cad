"""The tables on what protocols picked and how well."""

from collections.abc import Mapping

import polars as pl

from analysis.figures.style import Series
from analysis.page.html_page import Cell, Column, Table
from analysis.protocols.protocol_selection import Ground
from analysis.protocols.protocol_study import ProtocolStudy
from analysis.report.protocol_cells import mean_cell, name_cell, over, row_of
from analysis.study_results.study_results import PERCENT
from analysis.wording import MISSING, p_value, percent, range_of

__all__ = ["agreement_table", "luck_table", "pair_table", "pick_table"]

_Looks = Mapping[str, Series]


def pick_table(study: ProtocolStudy, series: _Looks) -> Table:
    """What each protocol picked, by the final stage and by other runs of the same config."""
    found = study.choices
    rates = {row["protocol"]: row for row in found.pick_rates.to_dicts()} if found else {}
    rows = []
    for label in study.order:
        place = {"protocol": label}
        cells = [mean_cell(row_of(study.finals, rung, **place)) for rung in _RUNGS]
        if found:
            cells += [mean_cell(row_of(found.means, measure, **place)) for measure in _PICKS]
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
        rows.append((name_cell(study, label, series), *cells))
    heads = list(_RUNGS.values())
    if found:
        heads += [*_PICKS.values(), "Picked the best"]
    return Table(
        name="protocol-picks-table",
        caption=f"{study.metric} of finalists on test, in %{over(study.finals, study.unit)}."
        + (_scored_by(study) if found else ""),
        columns=(Column(label="Protocol", is_number=False), *(Column(label=h) for h in heads)),
        rows=tuple(rows),
        note=_BLINDLY.format(1 / study.num_configs) if found else "",
    )


_RUNGS = {
    "default_part": "Default",
    "tuned_part": "Tuned",
    "default_all": "Default, all classes",
    "tuned_all": "Tuned, all classes",
}
_PICKS = {"picked_test": "Pick, other runs", "regret": "Regret, points"}
_BLINDLY = (
    "Picked the best: share of searches whose pick is best on the mean of these runs, with"
    " Wilson's interval; a blind pick is in {:.0%} of them. A regret below zero means that the"
    " runs cannot tell the pick from the best."
)


def _scored_by(study: ProtocolStudy) -> str:
    if study.scale is not None:
        return (
            f" Other runs are those of {study.scale_shown}, which trained every config on all"
            " classes, in other repeats: one scale for all protocols."
        )
    return " Other runs are the protocol's own in other repeats: their levels differ."


def pair_table(study: ProtocolStudy, series: _Looks) -> Table | None:
    """Every two protocols compared."""
    frames = {}
    if study.finals.filter(pl.col("measure") == "tuned_part")["mean"].count():
        frames["Tuned"] = (study.final_differences, "tuned_part")
    if study.finals.filter(pl.col("measure") == "tuned_all")["mean"].count():
        frames["Tuned, all classes"] = (study.final_differences, "tuned_all")
    if study.choices is not None:
        name, measure = ("Pick", "picked_test") if study.scale else ("Regret", "regret")
        frames[name] = (study.choices.differences, measure)
    pairs = study.final_differences.select("a", "b").unique(maintain_order=True)
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
        rows.append((name_cell(study, a, series), name_cell(study, b, series), *cells))
    heads = [head for name in frames for head in (name, "p (Holm)")]
    return Table(
        name="protocol-pairs",
        caption="Protocols compared: first minus second on test, in points, paired by search",
        columns=(
            Column(label="First", is_number=False),
            Column(label="Second", is_number=False),
            *(Column(label=head) for head in heads),
        ),
        rows=tuple(rows),
        note="p: two-sided t test over repeats (of the final stage with a single one: over"
        " blocks), adjusted after Holm over the pairs of a column.",
    )


def _p(value: float | None) -> Cell:
    return Cell(text=p_value(value), order=value)


def agreement_table(study: ProtocolStudy, found: Ground, series: _Looks) -> Table:
    """Rank agreement of validation with test."""
    rows = []
    for label in study.order:
        place = {"protocol": label}
        rows.append(
            (
                name_cell(study, label, series),
                mean_cell(row_of(found.means, "tau", **place), factor=1),
                mean_cell(row_of(found.means, "ceiling", **place), factor=1),
                mean_cell(row_of(found.means, "at_ceiling", **place)),
                mean_cell(row_of(study.same_run, "own_tau", **place), factor=1),
                mean_cell(row_of(study.same_run, "naive_regret", **place)),
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
        caption="Does validation order configs as test does? Mean over searches"
        f"{over(found.means)}.",
        columns=(Column(label="Protocol", is_number=False), *(Column(label=h) for h in heads)),
        rows=tuple(rows),
        note="Two halves of the test runs agree like that, each being noisier than all runs: not"
        " much more can be asked of validation. Own runs share their luck between validation and"
        " test; so does the naive regret, which is too large besides.",
    )


def luck_table(study: ProtocolStudy, series: _Looks) -> Table:
    """Optimism of both kinds, and overtuning."""
    sources = [
        ("Of its run", study.run_luck, "fresh"),
        ("Of classes", study.class_luck, "optimism"),
        ("… by epoch", study.class_luck, "epoch"),
        ("… by config", study.class_luck, "config"),
    ]
    if study.choices is not None:
        sources.append(("Overtuning", study.choices.means, "overtuning"))
    rows = tuple(
        (
            name_cell(study, label, series),
            *(mean_cell(row_of(means, measure, protocol=label)) for _, means, measure in sources),
        )
        for label in study.order
    )
    return Table(
        name="protocol-luck",
        caption="How much of the validation score of a pick is luck, and what a longer search gave"
        f" away on test; points{over(study.run_luck) or over(study.class_luck)}.",
        columns=(
            Column(label="Protocol", is_number=False),
            *(Column(label=name) for name, _, _ in sources),
        ),
        rows=rows,
        note="Of its run: less fresh runs on the same classes. Of classes: chosen by one half of"
        " the validation classes, scored on the other.",
    )
