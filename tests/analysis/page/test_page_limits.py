"""A page shows a part of what is larger than anyone looks through, and says so."""

import csv
import io
from dataclasses import replace

import pytest

from podium.analysis.figures.axis import Axis
from podium.analysis.figures.lines import Line, lines_plot
from podium.analysis.page import tables
from podium.analysis.page.html_page import Fold, Illustration, Page, Section
from podium.analysis.page.page_limits import (
    MOST_CELLS,
    MOST_COLUMNS,
    MOST_PLOTS,
    MOST_ROWS,
    within_limits,
)
from podium.analysis.page.table_files import csv_files
from podium.analysis.page.tables import Column


def table(rows, columns=2, note=""):
    return tables.table(
        range(rows),
        (
            Column.text("Name", "row {}".format),
            *(Column.number(str(i), int) for i in range(1, columns)),
        ),
        name="numbers",
        caption="Numbers",
        note=note,
    )


def figure(labels, kinds=1):
    plots = tuple(
        lines_plot(
            [Line(name="triplet", xs=(1, 2), ys=(1.0, 2.0))],
            (Axis(label="x"), Axis(label="y")),
            name=f"plot-{kind}-{position}",
            label=label,
            title=label,
        )
        for kind in range(kinds)
        for position, label in enumerate(labels)
    )
    return Illustration(
        name="lines", plots=plots, caption="Lines.", table=table(3), selector="Block"
    )


def page(*parts):
    sections = (Section(name="all", title="All", parts=(Fold(summary="In", parts=parts),)),)
    return Page(title="T", subtitle="S", sections=sections)


def shown(part):
    (section,) = within_limits(page(part)).sections
    return section.parts[0].parts[0]


@pytest.mark.parametrize(
    "part",
    [
        table(MOST_ROWS),
        table(5, MOST_COLUMNS),
        figure(map(str, range(MOST_PLOTS))),
        figure(map(str, range(MOST_PLOTS // 2)), kinds=2),
    ],
    ids=["rows", "columns", "plots", "plots of two kinds"],
)
def test_what_is_within_the_limits_stays_as_it_is(part):
    assert shown(part) == part


def test_a_longer_table_has_its_first_rows_and_says_of_how_many():
    whole = table(MOST_ROWS + 1, note="A note.")
    found = shown(whole)

    assert found.rows == whole.rows[:MOST_ROWS]
    assert found.note == (
        "A note. Shown: the first 1,000 of 1,001 rows of this table; podium report with --csv"
        " writes it whole."
    )


def test_a_wider_table_has_its_first_columns_and_no_more_cells_than_a_page_takes():
    found = shown(table(500, MOST_COLUMNS + 40))

    assert {len(row) for row in found.rows} == {len(found.columns)} == {MOST_COLUMNS}
    assert len(found.rows) * len(found.columns) == MOST_CELLS
    assert "the first 100 of 500 rows and the first 200 of 240 columns" in found.note


def test_of_more_plots_both_kinds_of_the_same_labels_are_shown():
    labels = [f"block {n}" for n in range(MOST_PLOTS)]
    found = shown(figure(labels, kinds=2))

    kinds = [found.plots[: MOST_PLOTS // 2], found.plots[MOST_PLOTS // 2 :]]
    assert [plot.label for plot in kinds[0]] == [plot.label for plot in kinds[1]]
    assert kinds[0][0].label == "block 0"
    assert kinds[0][-1].label == f"block {MOST_PLOTS - 1}"
    assert found.caption == (
        "Lines. Shown: 100 of 200 plots, spread evenly over blocks in their order."
    )


def test_the_table_of_a_figure_has_limits_too():
    found = shown(replace(figure("ab"), table=table(MOST_ROWS + 5)))
    assert len(found.table.rows) == MOST_ROWS


def test_files_of_tables_have_every_row():
    text = csv_files(page(table(MOST_ROWS + 1)))["numbers.csv"]
    assert len(list(csv.reader(io.StringIO(text)))) == MOST_ROWS + 2
