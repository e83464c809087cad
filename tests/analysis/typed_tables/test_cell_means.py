"""Means of cells, against the plain way to group."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from analysis.typed_tables import cell_means as module
from analysis.typed_tables.cell_means import cell_means

CELL = ["block", "dim", "loss"]
SCHEMA = {"block": pl.String, "dim": pl.Int64, "loss": pl.String, "recall": pl.Float64}

row = st.tuples(
    st.sampled_from(["a", "b", "c"]),
    st.sampled_from([-3, 64, 66]),
    st.sampled_from(["x", "y"]),
    st.one_of(st.none(), st.floats(0, 1)),
)


def plain(frame, cell=CELL):
    return frame.group_by(cell, maintain_order=True).agg(pl.col("recall").mean())


@pytest.mark.parametrize("copies", [1, 200])
@given(rows=st.lists(row, max_size=20))
def test_means_are_those_of_the_plain_way(rows, copies):
    frame = pl.DataFrame(rows * copies, schema=SCHEMA, orient="row")
    assert_frame_equal(cell_means(frame, CELL, "recall"), plain(frame))


def test_few_cells_of_many_rows_are_not_grouped():
    frame = pl.DataFrame([("a", 1, "x", 0.5), ("b", 2, "x", None)] * 50, SCHEMA, orient="row")
    assert module._codes(frame, CELL) is not None
    assert cell_means(frame, CELL, "recall")["recall"].to_list() == [0.5, None]


@pytest.mark.parametrize(
    "values",
    [pl.Series("dim", [0, 10**12]), pl.Series("dim", [0.5, 1.5]), pl.Series("dim", [None, 1])],
)
def test_columns_of_any_values_are_grouped_all_the_same(values):
    frame = pl.DataFrame({"block": ["a", "b"], "recall": [0.1, 0.2]}).with_columns(values)
    frame = pl.concat([frame, frame])
    cell = ["block", "dim"]
    assert_frame_equal(cell_means(frame, cell, "recall"), plain(frame, cell))


def test_a_cell_may_be_named_by_numbers_alone():
    frame = pl.DataFrame({"dim": [2, 1, 2], "recall": [0.1, 0.2, 0.3]})
    assert_frame_equal(cell_means(frame, ["dim"], "recall"), plain(frame, ["dim"]))
