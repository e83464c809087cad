"""Published default, tuned, refit on all training classes: the gain of each step on test."""

from collections.abc import Mapping, Sequence

import polars as pl

from analysis.figures.intervals import IntervalAxis, IntervalRow, IntervalWords, intervals_plot
from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Illustration, Table
from analysis.protocols.protocol_study import ProtocolStudy
from analysis.protocols.protocol_tables import intervals_over, mean_figure, row_of
from analysis.report.protocol_tables import entry_cell, estimate

_FINALISTS = {
    "default_part": "default",
    "tuned_part": "tuned",
    "tuned_all": "tuned, all classes",
}
_GAPS = {"tuning": "Tuning", "classes": "All classes", "both": "Both"}
_ALL = "all losses"


def default_tuned_refit(
    study: ProtocolStudy, losses: Mapping[str, Series], *, protocol: str
) -> Illustration | None:
    """The figure of one protocol and the table of all; None without finals on all classes.

    Args:
        study: statistics of the study's protocols.
        losses: look of each loss.
        protocol: label of the protocol under which losses are compared.
    """
    if row_of(study.finals.means, "classes", protocol=protocol) is None:
        return None
    mine = study.finals.by_loss.filter(pl.col("protocol") == protocol)
    rows = [
        row
        for loss in sorted(set(mine["loss"]))
        for row in _rows(mine, loss, losses[loss], loss=loss)
    ]
    if mine["loss"].n_unique() > 1:
        ink = Series(name=_ALL, position=None)
        rows += _rows(study.finals.means, _ALL, ink, protocol=protocol)
    intervals = intervals_over(study.finals.means, study.finals.unit)
    plot = intervals_plot(
        rows,
        IntervalAxis(label=f"{study.metric} on test, %"),
        IntervalWords(value=f"mean {study.metric} on test, %"),
        name="ladder-plot",
        title="From the published default to tuned to all training classes",
        description="Three lines for each loss: the published default, the tuned config, both"
        " trained on a part of the training classes, and the tuned config trained on all of them."
        " The numbers are in the table.",
    )
    return Illustration(
        name="ladder",
        plots=(plot,),
        caption=f"Finalists under {study.shown[protocol]}: published default (hollow), tuned, and"
        " tuned refit on all training classes for as many epochs as the search selected;"
        f" test, mean over blocks and fresh seeds{intervals}. Gaps are paired"
        " by seed: see the table.",
        table=_table(study, losses),
    )


def _rows(means: pl.DataFrame, name: str, series: Series, **keys: str) -> tuple[IntervalRow, ...]:
    return tuple(
        IntervalRow(
            name=label,
            group=name,
            series=series,
            estimate=estimate(row_of(means, finalist, **keys)),
            is_filled=finalist != "default_part",
        )
        for finalist, label in _FINALISTS.items()
    )


def _table(study: ProtocolStudy, losses: Mapping[str, Series]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for label in study.order:
        mine = study.finals.by_loss.filter(pl.col("protocol") == label)
        named = sorted(set(mine["loss"]))
        for loss in named:
            cell = Cell(text=loss, series=losses.get(loss), order=loss)
            rows.append(_row(study, mine.filter(pl.col("loss") == loss), label, cell))
        if len(named) > 1:
            rows.append(_row(study, study.finals.means, label, Cell(text=_ALL, order="~")))
    heads: Sequence[str] = (
        "Default",
        "Tuned",
        "Tuned, all classes",
        *_GAPS.values(),
    )
    return Table(
        name="ladder-table",
        caption=f"{study.metric} on test in %, gaps in points"
        f"{intervals_over(study.finals.means, study.finals.unit)}",
        columns=(
            Column(label="Protocol", is_number=False),
            Column(label="Loss", is_number=False),
            *(Column(label=head) for head in heads),
        ),
        rows=tuple(rows),
        note="Tuning: tuned minus default, both on a part of the classes. All classes: the tuned"
        " config on all of them minus itself on the part; the epochs come from the search.",
        is_sortable=True,
    )


def _row(study: ProtocolStudy, means: pl.DataFrame, label: str, loss: Cell) -> tuple[Cell, ...]:
    figures = (
        mean_figure(row_of(means, measure, protocol=label), is_gain=measure in _GAPS)
        for measure in (*_FINALISTS, *_GAPS)
    )
    return (
        Cell(text=study.shown[label], order=study.order.index(label)),
        loss,
        *map(entry_cell, figures),
    )
