"""Printed numbers against Python's own decimal rounding, and causes of misprints by hand."""

from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, ROUND_UP, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.typed_tables.printed_numbers import (
    Printed,
    fits,
    misprint,
    printed_column,
    root,
    shown,
)
from podium.errors import PodiumError

NUMBERS = st.fractions(min_value=0, max_value=200, max_denominator=400)
PLACES = st.integers(min_value=0, max_value=4)


def printed(text, decimals=None):
    own = len(text.partition(".")[2])
    return Printed(
        value=Fraction(text), decimals=own if decimals is None else decimals, own_decimals=own
    )


def rounded(true, places, rule):
    exact = Decimal(true.numerator) / Decimal(true.denominator)
    return str(exact.quantize(Decimal(1).scaleb(-places), rounding=rule))


@given(NUMBERS, PLACES, st.sampled_from([ROUND_HALF_UP, ROUND_HALF_EVEN]))
def test_both_ways_to_round_a_half_fit(true, places, rule):
    assert fits(printed(rounded(true, places, rule)), true)


@given(NUMBERS, PLACES)
def test_a_truncated_value_fits_or_is_called_truncated(true, places):
    cut = printed(rounded(true, places, ROUND_DOWN))
    assert fits(cut, true) or misprint(cut, true) == "truncated, not rounded"


@given(NUMBERS, PLACES)
def test_a_value_rounded_up_fits_or_is_called_so(true, places):
    high = printed(rounded(true, places, ROUND_UP))
    assert fits(high, true) or misprint(high, true) == "rounded the wrong way"


@given(NUMBERS, PLACES)
def test_one_unit_beyond_the_two_neighbours_never_fits(true, places):
    unit = Fraction(1, 10**places)
    beyond = Fraction(rounded(true, places, ROUND_UP)) + unit
    assert not fits(printed(shown(beyond, places)), true)


@pytest.mark.parametrize(
    ("typed", "true", "cause"),
    [
        ("8.85", Fraction(103, 12), "two digits swapped"),
        ("3.16", Fraction(38, 12), "truncated, not rounded"),
        ("7.25", Fraction(425, 100), "one digit differs"),
        ("9.99", Fraction(425, 100), ""),
        ("14.25", Fraction(425, 100), ""),
    ],
)
def test_the_cause_is_named_where_it_shows(typed, true, cause):
    assert not fits(printed(typed), true)
    assert misprint(printed(typed), true) == cause


def test_fewer_decimals_than_the_column_has_are_named():
    assert misprint(printed("4.5", decimals=2), Fraction(446, 100)) == (
        "rounded to 1 decimal, its column to 2"
    )


def test_a_column_has_the_decimals_of_its_longest_number():
    column = printed_column(["1", "3.16", " ", None, "10", "nan"], column="x", source="t.csv")
    assert [value and value.decimals for value in column] == [2, 2, None, None, 2, None]
    assert [value and value.own_decimals for value in column] == [0, 2, None, None, 0, None]
    assert [value and str(value) for value in column] == ["1", "3.16", None, None, "10", None]


def test_numbers_of_a_binary_file_have_the_decimals_of_their_shortest_text():
    (value,) = printed_column([8.58], column="x", source="t.parquet")
    assert (value.value, value.decimals) == (Fraction(858, 100), 2)


@pytest.mark.parametrize("text", ["abc", "inf", "1,5,2", "3.1 0.2"])
def test_text_among_numbers_is_an_error_that_names_its_row(text):
    with pytest.raises(PodiumError, match=r"'x' of t.csv must hold numbers; row 2 holds"):
        printed_column(["1", text], column="x", source="t.csv")


@pytest.mark.parametrize(
    ("text", "value"), [("1,5", "1.5"), ("3.1±0.2", "3.1"), (r"\textbf{3.10}", "3.10")]
)
def test_numbers_are_read_as_papers_print_them(text, value):
    (found,) = printed_column([text], column="x", source="t.csv")
    assert str(found) == value


@pytest.mark.parametrize("text", ["", "-", "–", "nan"])
def test_a_dash_is_no_number_but_a_missing_one(text):
    assert printed_column([text], column="x", source="t.csv") == [None]


def test_a_root_is_exact_far_beyond_a_float():
    assert abs(root(Fraction(2)) ** 2 - 2) < Fraction(1, 10**55)
    assert root(Fraction(-1, 10**40)) == 0
