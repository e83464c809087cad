"""Columns read their cells off the rows of a frame, or off values."""

from dataclasses import dataclass

import polars as pl
import pytest

from podium.analysis.figures.series import series_of
from podium.analysis.page.tables import Column, table
from podium.analysis.wording import MISSING

FRAME = pl.DataFrame(
    {"loss": ["triplet", "untrained"], "share": [0.5, None], "low": [0.4, None], "p": [1e-9, None]}
)


def made(*columns, rows=FRAME):
    return table(rows, columns, name="t", caption="c")


@pytest.mark.parametrize(
    ("column", "text", "detail", "order"),
    [
        (Column.text("x", "loss"), "triplet", "", "triplet"),
        (Column.text("x", "loss", order=lambda _: 3), "triplet", "", 3),
        (Column.number("x", "share", 1), "0.5", "", 0.5),
        (Column.number("x", "share", below=lambda _: "2 failed"), "0.50", "2 failed", 0.5),
        (Column.share("x", "share", below=("low", "share")), "50.00", "40.00 to 50.00", 50.0),
        (Column.signed("x", "share", factor=100), "+50.00", "", 50.0),
        (Column.interval("x", "low", "share", factor=100), "40.00 to 50.00", "", 40.0),
        (Column.p_value("x", "p"), "<\N{NO-BREAK SPACE}0.001", "", 1e-9),
    ],
)
def test_a_cell_has_its_text_what_stands_below_and_a_value_to_sort_by(column, text, detail, order):
    (first, *_), (second, *_) = made(column).rows
    assert (first.text, first.detail, first.order) == (text, detail, order)
    if column.is_number:
        assert second.text == MISSING


def test_names_have_the_marker_of_their_competitor_and_a_baseline_none():
    looks = series_of(["triplet"])
    (first,), (second,) = made(Column.named("Loss", "loss", looks)).rows
    assert (first.series, second.series) == (looks["triplet"], None)


def test_rows_may_be_values_whose_attributes_are_read():
    @dataclass
    class Inner:
        count: int

    @dataclass
    class Row:
        inner: Inner

    ((cell,),) = made(Column.count("n", "inner.count"), rows=[Row(Inner(1204))]).rows
    assert cell.text == "1,204"


def test_the_best_is_bold():
    column = Column.number("x", "share", best=lambda row: row["loss"] == "triplet")
    assert [cell.is_best for (cell,) in made(column).rows] == [True, False]


def test_columns_and_rows_without_a_value_go_and_so_does_a_table_of_nothing_else():
    nothing = Column.number("nothing", lambda _: None)
    found = made(Column.text("Loss", "loss"), Column.number("x", "share"), nothing, None).filled()
    assert [column.label for column in found.columns] == ["Loss", "x"]
    assert [row[0].text for row in found.rows] == ["triplet"]
    assert made(Column.text("Loss", "loss"), nothing).filled() is None
