"""Tables and means of protocols as parts of a page."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from analysis.figures.estimate import Estimate
from analysis.figures.series import Series
from analysis.page.html_page import Cell, Column, Table
from analysis.protocols.protocol_tables import Entry, Figure, ProtocolTable, ends_of
from analysis.scores.protocol_runs import Protocol
from analysis.study_results.study_results import PERCENT
from analysis.wording import MISSING


def page_table(table: ProtocolTable, series: Mapping[str, Series]) -> Table:
    """The table with a marker before each protocol.

    Args:
        table: the table.
        series: label of each protocol -> its look, in the study's order, by which they sort.
    """
    return Table(
        name=table.name,
        caption=f"{table.caption}.",
        columns=tuple(
            Column(label=head, is_number=is_number)
            for head, is_number in zip(table.heads, table.are_numbers, strict=True)
        ),
        rows=tuple(tuple(entry_cell(entry, series) for entry in row) for row in table.rows),
        note=table.note,
        is_sortable=True,
    )


def entry_cell(entry: Entry, series: Mapping[str, Series] = MappingProxyType({})) -> Cell:
    """The cell of a protocol, a number, a text, or of a missing value."""
    match entry:
        case Protocol(label=label, shown=shown):
            return Cell(text=shown, series=series[label], order=list(series).index(label))
        case Figure(text=text, interval=interval, order=order):
            return Cell(text=text, detail=interval, order=order)
        case _:
            return Cell(text=MISSING if entry is None else entry)


def estimate(row: Mapping[str, Any] | None) -> Estimate | None:
    """A mean and its interval in percent, from a row of ``group_means``."""
    if row is None:
        return None
    low, high = ends_of(row)
    return Estimate(
        value=PERCENT * row["mean"],
        low=None if low is None else PERCENT * low,
        high=None if high is None else PERCENT * high,
    )
