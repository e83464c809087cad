"""Rows in which Recall@K falls, against a look at every cell."""

import itertools

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from podium.analysis.typed_tables.table_checks import (
    equal_competitors,
    recall_warnings,
    without_doubles,
)

SCHEMA = {"block": pl.String, "loss": pl.String, "k": pl.Int64, "recall": pl.Float64}
CELL = ["block", "loss"]

row = st.tuples(
    st.sampled_from("ab"),
    st.sampled_from("xy"),
    st.sampled_from([1, 2, 4]),
    st.one_of(st.none(), st.integers(50, 53).map(float)),
)


def frame_of(rows):
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def falls_of(rows):
    """Of the rows of one cell that have a score, and a K of their own."""
    known = sorted((k, score) for _, _, k, score in rows if score is not None)
    alone = [pair for pair in known if [k for k, _ in known].count(pair[0]) == 1]
    return sum(later < earlier for (_, earlier), (_, later) in itertools.pairwise(alone))


@given(st.lists(row, max_size=12))
def test_rows_of_cells_that_fall_are_named_and_no_others(rows):
    cells = {}
    for values in rows:
        cells.setdefault(values[:2], []).append(values)
    expected = sum(map(falls_of, cells.values()))
    found = recall_warnings(frame_of(rows), ["block"], CELL, "recall")
    named = sum(text.count(" after ") for text in found)
    assert named == min(expected, 5)


def test_falls_beyond_rounding_are_named_and_rounding_is_not():
    rows = [("a", "x", 1, 50.0), ("a", "x", 2, 50.0 - 1e-5), ("b", "y", 1, 99.0)]
    (warning,) = recall_warnings(frame_of(rows), ["block"], CELL, "recall")
    assert warning.startswith("Recall@K cannot fall as K grows: a/x (R@2 = 50 after R@1 = 50)")
    rows[1] = ("a", "x", 2, 50.0 - 1e-13)
    assert recall_warnings(frame_of(rows), ["block"], CELL, "recall") == ()


@given(st.lists(row, max_size=12))
def test_doubles_are_found(rows):
    frame = frame_of(rows)
    once, warnings = without_doubles(frame, CELL)
    assert once.rows() == list(dict.fromkeys(rows))
    assert bool(warnings) == (len(once) < len(frame))


def test_a_competitor_with_the_scores_of_another_in_three_blocks_is_named():
    rows = [(b, loss, 1, 50.0 + i) for i, b in enumerate("pqr") for loss in "xyz"]
    assert equal_competitors(frame_of(rows), ["block"], "loss", "recall") == (
        "equal in all settings, a copy?: x, y, z",
    )
    rows[0] = ("p", "x", 1, 49.0)
    assert "copy?: y, z" in equal_competitors(frame_of(rows), ["block"], "loss", "recall")[0]
    assert equal_competitors(frame_of(rows[:6]), ["block"], "loss", "recall") == ()
