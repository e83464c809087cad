"""Cells in rows and columns: every value, frame and colour that the plot has."""

import json

import numpy as np

from analysis.figures.matrix import MatrixText, Scale, matrix_plot

GAPS = np.array([[np.nan, 1.04, 4], [-1.04, np.nan, 2.96], [-4, -2.96, np.nan]])
SCALE = Scale(label="Row minus column, points", start=-4, end=4, is_diverging=True)


def matrix(values, colours=SCALE, is_framed=None, **text):
    rows = [f"r{i}" for i in range(len(values))]
    columns = [f"c{i}" for i in range(values.shape[1])]
    return matrix_plot(
        rows,
        columns,
        values,
        colours,
        MatrixText(joint="minus", **text),
        name="m",
        title="t",
        description="d",
        is_framed_RC=is_framed,
    ).values


def test_every_cell_is_there_and_an_unknown_one_is_empty():
    assert matrix(GAPS)["cells"] == [[None, 1.04, 4], [-1.04, None, 2.96], [-4, -2.96, None]]


def test_rows_and_columns_are_named_in_the_order_given():
    found = matrix(np.zeros((2, 3)))
    assert found["rows"] == ["r0", "r1"]
    assert found["columns"] == ["c0", "c1", "c2"]


def test_framed_cells_are_listed_by_row_and_column():
    assert matrix(GAPS, is_framed=abs(GAPS) > 3, framed="differs")["framed"] == [[0, 2], [2, 0]]
    assert matrix(GAPS)["framed"] == []


def test_the_key_has_the_ends_of_the_scale():
    scale = matrix(GAPS)["scale"]
    assert (scale["start"], scale["end"], scale["isDiverging"]) == (-4, 4, True)
    assert scale["label"] == "Row minus column, points"


def test_many_ranks_take_few_bytes():
    ranks = np.tile(np.arange(1.0, 47), (28, 1))
    text = json.dumps(matrix(ranks, Scale(label="Rank", start=46, end=1)), separators=(",", ":"))
    assert len(text) < 8_000
