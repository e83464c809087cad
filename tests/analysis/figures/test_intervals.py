"""Rows of estimates: what of them the plot has, and how far its axis reaches."""

import json
import math

import pytest

from podium.analysis.figures.intervals import IntervalAxis, IntervalRow, intervals_plot
from podium.analysis.figures.series import series_of

LOOKS = series_of(["Arc", "Margin"])


def plot(rows, *, is_bars=False, **axis):
    return intervals_plot(
        rows,
        IntervalAxis(label="Points", **axis),
        name="p",
        title="t",
        is_bars=is_bars,
    ).values


def row(value, low=None, high=None, **more):
    return IntervalRow(name="a", value=value, low=low, high=high, **more)


def test_every_row_is_there_in_the_order_given_with_its_group_and_look():
    rows = [row(1.0, group="g", series=LOOKS["Margin"]), row(2.0, 1.5, 2.5), row(0.0)]
    found = plot(rows)["rows"]
    assert found["value"] == [1, 2, 0]
    assert found["group"] == ["g", "", ""]
    assert found["competitor"] == ["Margin", None, None]
    assert found["low"] == [None, 1.5, None]
    assert plot(rows)["looks"] == {"Margin": [LOOKS["Margin"].css_colour, LOOKS["Margin"].symbol]}


def test_a_row_without_an_estimate_stays_with_its_name():
    found = plot([IntervalRow(name="none", value=None), row(1.0)])["rows"]
    assert found["name"] == ["none", "a"]
    assert found["value"] == [None, 1]


def test_what_no_row_has_takes_no_bytes():
    assert set(plot([row(1.0)])["rows"]) == {"name", "value"}


def test_values_are_json_without_nan():
    text = json.dumps(plot([row(math.nan), row(1 / 3)]), allow_nan=False)
    assert "0.333333" in text
    assert "0.3333333" not in text


def test_the_axis_spans_values_intervals_dots_reference_and_region():
    rows = [row(3, 2, 7, dots=(1.0, 9.0))]
    low, high = plot(rows, reference=0, region=(-6, 10))["domain"]
    assert -7 < low < -6
    assert 10 < high < 11


def test_the_axis_stays_within_its_limits():
    assert plot([row(50, -40, 160)], limits=(0, 100))["domain"] == [0, 100]


def test_equal_values_still_have_an_axis():
    low, high = plot([row(2), row(2)])["domain"]
    assert low < 2 < high


def test_bars_start_at_zero_and_cut_intervals_that_would_leave_them_no_room():
    low, high = plot([row(2, 1, 500), row(1, 0.5)], is_bars=True)["domain"]
    assert low == 0
    assert high == pytest.approx(2.2 * 2 * 1.04)


def test_bars_below_zero_keep_their_length():
    low, high = plot([row(-2, -3, -1)], is_bars=True)["domain"]
    assert -3.3 < low < -3
    assert high > 0


def test_an_interval_without_an_upper_end_is_cut_as_a_very_long_one_is():
    open_above, long = (plot([row(2, 1, high)], is_bars=True) for high in (None, 1000))
    assert open_above["domain"] == long["domain"]
    assert open_above["rows"].get("high") is None
    assert math.isfinite(plot([row(0, 0, None)], is_bars=True)["domain"][1])
