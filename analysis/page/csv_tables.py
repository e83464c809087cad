"""The tables of a page as CSV, with all digits."""

import csv
import io
import re
from collections.abc import Iterable, Iterator

from analysis.page.html_page import Cell, Column, Fold, Illustration, Page, Part, SideBySide, Table

__all__ = ["column_names", "csv_table", "tables_of", "value_of"]

# A number as `analysis.wording` writes it. The script of the page has the same pattern.
_NUMBER = re.compile(r"[<>]?\s*[+−-]?\d[\d,]*(\.\d+)?\s*%?")


def tables_of(page: Page) -> tuple[Table, ...]:
    """Every table, from the top of the page to its end; those of figures too."""
    return tuple(
        table for section in page.sections for part in section.parts for table in _within(part)
    )


def _within(part: Part) -> Iterator[Table]:
    if isinstance(part, Table):
        yield part
    elif isinstance(part, Illustration):
        yield part.table
    elif isinstance(part, SideBySide | Fold):
        for inner in part.parts:
            yield from _within(inner)


def csv_table(table: Table) -> str:
    """The table as CSV after RFC 4180 but for its line ends, which are line feeds.

    Numbers have all their digits, in the unit that is shown. A column with smaller second lines
    gets a second column for them.
    """
    detailed = _detailed(table)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(column_names(table))
    for row in table.rows:
        writer.writerow(
            value
            for cell, column, has_details in zip(row, table.columns, detailed, strict=True)
            for value in (_text(value_of(cell, column)), cell.detail)[: 1 + has_details]
        )
    return file.getvalue()


def column_names(table: Table) -> tuple[str, ...]:
    """A name for every column of the CSV; no two are the same."""
    names: list[str] = []
    for column, has_details in zip(table.columns, _detailed(table), strict=True):
        name = f"{column.group} {column.label}" if column.group else column.label
        names += (name, f"{name} (below)")[: 1 + has_details]
    return tuple(_unique(names))


def value_of(cell: Cell, column: Column) -> float | str:
    """What a cell says: its number with all digits, or its text.

    A text that is no plain number, such as an interval or a time with its unit, stays a text.
    """
    is_value = column.is_number and isinstance(cell.order, int | float)
    if is_value and _NUMBER.fullmatch(cell.text):
        assert isinstance(cell.order, int | float)
        return cell.order
    return cell.text


def _text(value: float | str) -> str:
    return value if isinstance(value, str) else str(value)


def _detailed(table: Table) -> list[bool]:
    return [
        any(row[position].detail for row in table.rows) for position in range(len(table.columns))
    ]


def _unique(names: Iterable[str]) -> Iterator[str]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
        yield name if counts[name] == 1 else f"{name} ({counts[name]})"
