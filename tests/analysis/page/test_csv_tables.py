"""Tables as CSV: full digits, correct quoting, one name a column."""

import csv
import io
import re

import pytest

from podium.analysis.page.html_page import Fold, Illustration, Page, Section, SideBySide
from podium.analysis.page.table_files import column_names, csv_table, tables_of
from podium.analysis.page.tables import Cell, Column, Table
from podium.analysis.report.report import table_report
from podium.analysis.tournament.table_tournament import rank_table
from podium.analysis.typed_tables.score_table import read_table
from podium.analysis.typed_tables.table_options import TableOptions
from tests.analysis.thesis_cub200 import BY, RECALLS


def table_of(*rows, columns, name="t"):
    return Table(name=name, caption="c", columns=columns, rows=rows)


def read_csv(text):
    return list(csv.reader(io.StringIO(text)))


def test_numbers_have_all_digits_and_texts_stay():
    columns = (Column(label="Loss", is_number=False), Column(label="Score"), Column(label="Time"))
    table = table_of(
        (Cell(text="a"), Cell(text="73.46", order=73.45678), Cell(text="3.2 h", order=11520.0)),
        (Cell(text="b"), Cell(text="–"), Cell(text="2.10 to 3.40", order=2.1)),
        (
            Cell(text="c", order=7),
            Cell(text="−1,234.5", order=-1234.5),
            Cell(text="45 %", order=0.45),
        ),
        (Cell(text="d"), Cell(text="< 0.001", order=1e-08), Cell(text="12", order=12)),
        columns=columns,
    )

    assert read_csv(csv_table(table)) == [
        ["Loss", "Score", "Time"],
        ["a", "73.45678", "3.2 h"],
        ["b", "–", "2.10 to 3.40"],
        ["c", "-1234.5", "0.45"],
        ["d", "1e-08", "12"],
    ]


@pytest.mark.parametrize("text", ["a,b", 'say "x"', "two\nlines", " spaced ", "", "=1+1"])
def test_any_text_comes_back_as_it_was(text):
    table = table_of((Cell(text=text),), columns=(Column(label=text, is_number=False),))

    assert read_csv(csv_table(table)) == [[text], [text]]


def test_second_lines_have_a_column_of_their_own():
    columns = (Column(label="Loss", is_number=False), Column(label="Score"), Column(label="All"))
    table = table_of(
        (
            Cell(text="a"),
            Cell(text="1.00", order=1.0, detail="± 0.5"),
            Cell(text="3.00", order=3.0, detail="± 0.5"),
        ),
        (Cell(text="b"), Cell(text="2.00", order=2.0), Cell(text="–", detail="1 failed")),
        columns=columns,
    )

    assert read_csv(csv_table(table)) == [
        ["Loss", "Score", "Score ±", "All", "All (below)"],
        ["a", "1.0", "0.5", "3.0", "± 0.5"],
        ["b", "2.0", "", "–", "1 failed"],
    ]


def test_no_two_columns_have_one_name():
    columns = (
        Column(label="p"),
        Column(label="p"),
        Column(label="64", group="resnet50"),
        Column(label="64", group="googlenet"),
    )

    names = column_names(table_of(columns=columns))
    assert names == ("p", "p (2)", "resnet50 64", "googlenet 64")


def test_tables_are_found_wherever_they_stand():
    def table(name):
        return table_of(columns=(), name=name)

    figure = Illustration(name="f", plots=(), caption="", table=table("of figure"))
    section = Section(
        name="s",
        title="",
        parts=(
            table("first"),
            figure,
            Fold(summary="", parts=(SideBySide(parts=(table("beside"),)), table("folded"))),
        ),
    )
    page = Page(title="", subtitle="", sections=(section, section))

    found = [table.name for table in tables_of(page)]
    assert found == ["first", "of figure", "beside", "folded"] * 2


@pytest.fixture(scope="module")
def pages(synthetic_report, crossed_report):
    scores = read_table(
        RECALLS, TableOptions(by=BY, competitor="loss", score="recall", where=["k=1"])
    )
    return {
        "study": synthetic_report,
        "protocols": crossed_report,
        "table": table_report(rank_table(scores), title="t", source="s"),
    }


@pytest.mark.parametrize("name", ["study", "protocols", "table"])
def test_tables_have_names_of_their_own_and_rows_as_wide_as_their_heads(pages, name):
    tables = tables_of(pages[name])

    assert len({table.name for table in tables}) == len(tables) > 3
    for table in tables:
        assert re.fullmatch(r"[a-z0-9-]+", table.name)
        assert {len(row) for row in table.rows} <= {len(table.columns)}


@pytest.mark.parametrize("name", ["study", "protocols", "table"])
def test_what_orders_a_number_is_that_number_in_the_unit_shown(pages, name):
    wrong = [
        (table.name, column.label, cell.text, cell.order)
        for table in tables_of(pages[name])
        for row in table.rows
        for cell, column in zip(row, table.columns, strict=True)
        if column.is_number and not is_rounded(cell)
    ]

    assert wrong == []


def is_rounded(cell):
    """Whether a text that is a number is its order, rounded."""
    found = re.fullmatch(r"([+−-]?)([\d,]+)(?:\.(\d+))?(\s*%)?", cell.text)
    if not found:
        return True
    if not isinstance(cell.order, int | float):
        return False
    sign, whole, decimals, percent = found.groups()
    shown = float(f"{whole.replace(',', '')}.{decimals or 0}") * (
        -1 if sign in "−-" and sign else 1
    )
    exact = cell.order * (100 if percent else 1)
    return abs(exact - shown) <= 0.5 * 10 ** -len(decimals or "") + 1e-9


def test_searches_that_are_repeated_are_distinguished_in_the_history(pages):
    (history,) = (t for t in tables_of(pages["protocols"]) if t.name == "search-history-table")
    labels = [column.label for column in history.columns]
    described = [tuple(cell.text for cell in row[:3]) for row in history.rows]

    assert labels[:3] == ["Setting", "Loss", "Repeat"]
    assert len(set(described)) == len(described) > len({row[:2] for row in described})
    (once,) = (t for t in tables_of(pages["study"]) if t.name == "search-history-table")
    assert "Repeat" not in [column.label for column in once.columns]
