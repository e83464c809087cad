"""A page for other programs: its tables as CSV and LaTeX, and all of it as plain values."""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from typing import Any

from podium.analysis.page.html_page import (
    Fold,
    Illustration,
    Page,
    Part,
    SideBySide,
)
from podium.analysis.page.latex_tables import latex_table
from podium.analysis.page.tables import Cell, Column, Table
from podium.analysis.tournament.standings_record import tournament_record
from podium.analysis.tournament.tournament import Tournament

_INDEX = "index"
_OF_SCORES = ("recall", "table")  # the sections of a study and of a table that have scores
# A number as `analysis.wording` writes it. The script of the page has the same pattern.
_DEVIATION, _DEVIATIONS = re.compile(r"± [\d.]+"), " ±"  # of a cell; behind a column's name
_NUMBER = re.compile(r"[<>]?\s*[+−-]?\d[\d,]*(\.\d+)?\s*%?")


def csv_files(page: Page) -> dict[str, str]:
    """Every table as ``<name>.csv``, and ``index.csv``, which says what each is."""
    files = {f"{table.name}.csv": csv_table(table) for table in _named(page)}
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("file", "section", "caption", "rows", "note"))
    parts = [(section.title, section.parts) for section in page.sections]
    for label, of_part in (("Summary", _opening(page)), *parts):
        for table in _within(of_part):
            found = (label, table.caption, len(table.rows), table.note)
            writer.writerow((f"{table.name}.csv", *found))
    return {**files, f"{_INDEX}.csv": file.getvalue()}


def latex_files(page: Page) -> dict[str, str]:
    r"""Every table as ``<name>.tex``, and ``index.tex``, which takes them all in by ``\input``."""
    tables = _named(page)
    files = {f"{table.name}.tex": latex_table(table) for table in tables}
    lines = [f"\\input{{{table.name}}}\n" for table in tables]
    return {**files, f"{_INDEX}.tex": "".join(lines)}


def scores_latex(page: Page) -> str:
    """The table of scores that a paper prints, in as many parts as the page has it; or nothing."""
    sections = [section for section in page.sections if section.name in _OF_SCORES]
    shown = (part for section in sections for part in section.parts)
    tables = _within(part for part in shown if isinstance(part, Table | SideBySide))
    return "\n".join(map(latex_table, tables))


def page_record(page: Page, tournament: Tournament | None) -> dict[str, Any]:
    """The page without its figures as plain values, for JSON.

    Args:
        page: page of a study, or of a table of scores.
        tournament: the tournament that the page is about; None if none could be held.

    Returns:
        ``title``, ``subtitle``, ``headline``, ``sentences``, ``notices``, ``sections`` (each with
        the names of its tables), ``tables``, and ``tournament`` as `tournament_record`.
    """
    summary = page.summary
    assert summary is not None, "pages of studies and of tables have one"
    return {
        "title": page.title,
        "subtitle": page.subtitle,
        "headline": summary.verdict,
        "sentences": list(summary.sentences),
        "notices": list(summary.notices),
        "sections": [
            {
                "name": section.name,
                "title": section.title,
                "tables": [table.name for table in _within(section.parts)],
            }
            for section in page.sections
        ],
        "tables": [_table_record(table) for table in _named(page)],
        "tournament": tournament_record(tournament) if tournament else None,
    }


def tables_of(page: Page) -> tuple[Table, ...]:
    """Every table from the top of the page to its end, those of figures included."""
    return tuple(_within((*_opening(page), *(it for of in page.sections for it in of.parts))))


def _opening(page: Page) -> tuple[Part, ...]:
    """What the first screen shows besides text."""
    summary = page.summary
    return tuple(filter(None, (summary.leaderboard, summary.picture))) if summary else ()


def csv_table(table: Table) -> str:
    """The table as CSV after RFC 4180 but for its line ends, which are line feeds.

    Numbers have all their digits, in the unit that is shown. A column with smaller second lines
    gets a second column for them, and deviations are numbers there.
    """
    suffixes = _second_columns(table)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(column_names(table))
    for row in table.rows:
        values: list[float | str] = []
        for cell, column, suffix in zip(row, table.columns, suffixes, strict=True):
            detail = cell.detail.removeprefix("± ") if suffix == _DEVIATIONS else cell.detail
            values += (_text(_value_of(cell, column)), detail)[: 1 + bool(suffix)]
        writer.writerow(values)
    return file.getvalue()


def column_names(table: Table) -> tuple[str, ...]:
    """A name for every column of the CSV; no two are the same."""
    names: list[str] = []
    for column, suffix in zip(table.columns, _second_columns(table), strict=True):
        name = f"{column.group} {column.label}" if column.group else column.label
        names += (name, f"{name}{suffix}")[: 1 + bool(suffix)]
    return tuple(_unique(names))


def _value_of(cell: Cell, column: Column) -> float | str:
    """The value of a cell: its number with all digits, or its text.

    A text that is no plain number, such as an interval or a time with its unit, stays a text.
    """
    is_value = column.is_number and isinstance(cell.order, int | float)
    if is_value and _NUMBER.fullmatch(cell.text):
        assert isinstance(cell.order, int | float)
        return cell.order
    return cell.text


def _named(page: Page) -> tuple[Table, ...]:
    tables = tables_of(page)
    names = {_INDEX, *(table.name for table in tables)}
    assert len(names) == len(tables) + 1, "tables of a page have names of their own"
    return tables


def _table_record(table: Table) -> dict[str, Any]:
    """The table as plain values; second lines of cells are in ``details``, shaped as ``rows``."""
    return {
        "name": table.name,
        "caption": table.caption,
        "note": table.note,
        "columns": [
            {"label": column.label, "group": column.group, "is_number": column.is_number}
            for column in table.columns
        ],
        "csv_columns": list(column_names(table)),
        "rows": [
            [_value_of(cell, column) for cell, column in zip(row, table.columns, strict=True)]
            for row in table.rows
        ],
        "details": [[cell.detail for cell in row] for row in table.rows],
    }


def _within(parts: Iterable[Part]) -> Iterator[Table]:
    for part in parts:
        if isinstance(part, Table):
            yield part
        elif isinstance(part, Illustration) and part.table:
            yield part.table
        elif isinstance(part, SideBySide | Fold):
            yield from _within(part.parts)


def _text(value: float | str) -> str:
    return value if isinstance(value, str) else str(value)


def _second_columns(table: Table) -> list[str]:
    """What the name of each column has behind it for that of the second lines; empty for none."""
    details = [{row[c].detail for row in table.rows} - {""} for c in range(len(table.columns))]
    return [
        "" if not found else _DEVIATIONS if all(map(_DEVIATION.fullmatch, found)) else " (below)"
        for found in details
    ]


def _unique(names: Iterable[str]) -> Iterator[str]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
        yield name if counts[name] == 1 else f"{name} ({counts[name]})"
