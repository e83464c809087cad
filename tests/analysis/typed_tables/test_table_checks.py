"""Rows in which Recall@K may fall, against a look at every cell."""

import itertools

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.typed_tables.table_checks import has_doubles, suspect_rows

SCHEMA = {"block": pl.String, "loss": pl.String, "k": pl.Int64, "recall": pl.Float64}

row = st.tuples(
    st.sampled_from("ab"),
    st.sampled_from("xy"),
    st.sampled_from([None, 1, 2, 4]),
    st.one_of(st.none(), st.integers(0, 3).map(float)),
)


def frame_of(rows):
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def is_suspect(rows):
    """Of the rows of one cell."""
    ks = [k for _, _, k, _ in rows]
    known = sorted((k or 0, score) for _, _, k, score in rows if score is not None)
    falls = any(later < earlier for (_, earlier), (_, later) in itertools.pairwise(known))
    return len(set(ks)) < len(ks) or falls


@given(st.lists(row, max_size=12))
def test_rows_of_cells_that_double_or_fall_are_found_and_no_others(rows):
    cells = {}
    for values in rows:
        cells.setdefault(values[:2], []).append(values)
    expected = [values for values in rows if is_suspect(cells[values[:2]])]
    assert suspect_rows(frame_of(rows), ["block", "loss"], "recall").rows() == expected


def test_cells_of_one_hash_hide_nothing(monkeypatch):
    monkeypatch.setattr(
        pl.DataFrame, "hash_rows", lambda frame: pl.Series([7 << 60] * len(frame), dtype=pl.UInt64)
    )
    rows = [("a", "x", 1, 0.5), ("b", "x", 2, 0.6), ("a", "x", 4, 0.4)]
    assert suspect_rows(frame_of(rows), ["block", "loss"], "recall").rows() == rows


@pytest.mark.parametrize("rows", [[], [("a", "x", 1, None)]])
def test_nothing_to_compare_is_nothing_suspect(rows):
    assert suspect_rows(frame_of(rows), ["block", "loss"], "recall").is_empty()


def test_small_falls_among_large_scores_are_found_and_rounding_is_not():
    rows = [
        ("a", "x", 1, 50.0),
        ("a", "x", 2, 50.0 - 1e-5),
        ("b", "y", 1, 0.0),
        ("b", "y", 2, 99.0),
    ]
    assert suspect_rows(frame_of(rows), ["block", "loss"], "recall").rows() == rows[:2]
    rows[1] = ("a", "x", 2, 50.0 - 1e-13)
    assert suspect_rows(frame_of(rows), ["block", "loss"], "recall").is_empty()


@given(st.lists(row, max_size=12))
def test_doubles_are_found(rows):
    frame = frame_of(rows)
    assert has_doubles(frame, ["block", "loss"]) == (len({r[:2] for r in rows}) < len(rows))
