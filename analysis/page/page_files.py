"""A page for other programs: CSV, LaTeX, plain values."""

import csv
import io
from collections.abc import Sequence
from typing import Any

from analysis.page.csv_tables import column_names, csv_table, tables_of, value_of
from analysis.page.html_page import Bullets, Page, Paragraph, Table
from analysis.page.latex_tables import latex_table
from analysis.tournament.rank_stability import RankStability
from analysis.tournament.tournament import Tournament
from analysis.tournament.tournament_record import tournament_record

__all__ = ["csv_files", "latex_files", "page_record"]

_INDEX = "index"


def csv_files(page: Page) -> dict[str, str]:
    """Every table as ``<name>.csv``, and ``index.csv``, which says what each is."""
    files = {f"{table.name}.csv": csv_table(table) for table in _named(page)}
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("file", "section", "caption", "rows", "note"))
    for section in page.sections:
        for table in tables_of(Page(title="", subtitle="", sections=(section,))):
            found = (section.label, table.caption, len(table.rows), table.note)
            writer.writerow((f"{table.name}.csv", *found))
    return {**files, f"{_INDEX}.csv": file.getvalue()}


def latex_files(page: Page) -> dict[str, str]:
    r"""Every table as ``<name>.tex``, and ``index.tex``, which takes them all in by ``\input``."""
    tables = _named(page)
    files = {f"{table.name}.tex": latex_table(table) for table in tables}
    lines = [f"\\input{{{table.name}}}\n" for table in tables]
    return {**files, f"{_INDEX}.tex": "".join(lines)}


def page_record(
    page: Page, tournament: Tournament | None, stability: RankStability | None = None
) -> dict[str, Any]:
    """The page without its figures as plain values, for JSON.

    Args:
        page: of a study, or of a table of scores.
        tournament: that the page is about; None if none could be held.
        stability: of its ranks.

    Returns:
        ``title``, ``subtitle``, ``headline``, ``sentences``, ``notices``, ``sections`` (each with
        the names of its tables), ``tables``, and ``tournament`` as `tournament_record`.
    """
    opening = page.sections[0].parts
    return {
        "title": page.title,
        "subtitle": page.subtitle,
        "headline": _texts(opening, "lead")[0],
        "sentences": [s for part in opening if isinstance(part, Bullets) for s in part.items],
        "notices": _texts(opening, "notice"),
        "sections": [
            {
                "name": section.name,
                "title": section.title,
                "tables": [
                    table.name
                    for table in tables_of(Page(title="", subtitle="", sections=(section,)))
                ],
            }
            for section in page.sections
        ],
        "tables": [_table(table) for table in _named(page)],
        "tournament": tournament_record(tournament, stability) if tournament else None,
    }


def _named(page: Page) -> tuple[Table, ...]:
    tables = tables_of(page)
    names = {_INDEX, *(table.name for table in tables)}
    assert len(names) == len(tables) + 1, "tables of a page have names of their own"
    return tables


def _texts(parts: Sequence[object], style: str) -> list[str]:
    return [part.text for part in parts if isinstance(part, Paragraph) and part.style == style]


def _table(table: Table) -> dict[str, Any]:
    """Rows are lists of values; what stands below a value is in ``details`` of the same shape."""
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
            [value_of(cell, column) for cell, column in zip(row, table.columns, strict=True)]
            for row in table.rows
        ],
        "details": [[cell.detail for cell in row] for row in table.rows],
    }
