"""The tables on what protocols cost, and how often test classes were scored for them."""

from collections.abc import Mapping

from analysis.figures.style import Series
from analysis.page.html_page import Cell, Column, Table
from analysis.protocols.protocol_study import ProtocolStudy
from analysis.report.protocol_cells import name_cell
from analysis.study_results.study_results import PERCENT
from analysis.wording import MISSING, duration, number

__all__ = ["best_table", "cost_table", "readings_table"]

_Looks = Mapping[str, Series]


def cost_table(study: ProtocolStudy, series: _Looks) -> Table:
    """Time by protocol."""
    columns = {
        "Total": "gpu_hours",
        "Searches": "search_hours",
        "Finals": "final_hours",
        "Pruned": "pruned_hours",
        "Failed": "failed_hours",
        "Repeated": "repeated_hours",
        "One search": "hours_per_search",
    }
    costs = {row["protocol"]: row for row in study.costs.to_dicts()}
    rows = []
    for label in (label for label in study.order if label in costs):
        row = costs[label]
        front = {True: "yes", False: "no", None: MISSING}[row["on_front"]]
        rows.append(
            (
                name_cell(study, label, series),
                *(_time(row[column]) for column in columns.values()),
                _share(row["regret"]),
                Cell(text=front),
            )
        )
    shared = ""
    if study.num_copies:
        shared = (
            f" Really spent: {duration(3600 * study.spent_hours)}, since {study.num_copies} final"
            " trials served several searches."
        )
    return Table(
        name="protocol-costs",
        caption=f"{'GPU time' if study.has_gpus else 'Time'} of all attempts, whatever came of"
        " them; each protocol as if alone",
        columns=(
            Column(label="Protocol", is_number=False),
            *(Column(label=name) for name in columns),
            Column(label="Regret, points"),
            Column(label="On the front", is_number=False),
        ),
        rows=tuple(rows),
        note="On the front: no other protocol that does not leak costs and regrets less for a"
        f" search.{shared}",
    )


def _time(hours: float | None) -> Cell:
    return Cell(text=duration(None if hours is None else 3600 * hours), order=hours)


def best_table(study: ProtocolStudy, series: _Looks) -> Table | None:
    """What so many random trials find."""
    if study.best_of_trials.is_empty():
        return None
    return Table(
        name="protocol-best",
        caption="Expected best of so many random trials, mean over searches; the published default"
        " is no draw and left out",
        columns=(
            Column(label="Protocol", is_number=False),
            *(Column(label=h) for h in ("Trials", "Validation, %", "Its test, %", "Time")),
        ),
        rows=tuple(
            (
                name_cell(study, row["protocol"], series),
                Cell(text=str(row["num_trials"]), order=row["num_trials"]),
                _share(row["val"]),
                _share(row["test"]),
                _time(row["hours"]),
            )
            for row in study.in_order(study.best_of_trials)
        ),
    )


def _share(value: float | None) -> Cell:
    percent = None if value is None else PERCENT * value
    return Cell(text=number(percent), order=percent)


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
            Column(label="Chosen by them", is_number=False),
        ),
        rows=tuple(
            (
                # The untrained network stands under the first protocol, and belongs to none.
                Cell(text=MISSING if row["stage"] == "baseline" else study.shown[row["protocol"]]),
                Cell(text=row["stage"]),
                Cell(text=f"{row['readings']:,}", order=row["readings"]),
                Cell(text=f"{row['trials']:,}", order=row["trials"]),
                Cell(text="epoch or config" if row["leaks"] else "nothing"),
            )
            for row in study.in_order(study.readings)
        ),
        note="A trial that stands for two searches was scored once.",
    )
