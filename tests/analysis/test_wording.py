"""Numbers as a reader wants them."""

import pytest

from podium.analysis.wording import (
    counted,
    duration,
    listed,
    number,
    p_equals,
    p_value,
    percent,
    range_of,
    renamed,
    shown_names,
    signed,
)


def plain(text):
    return text.replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((3.174, "3.17"), (-0.5, "−0.50"), (-0.001, "0.00"), (0.0, "0.00"), (None, "–")),
        *((float("nan"), "–"), (float("inf"), "∞"), (float("-inf"), "−∞")),
    ],
)
def test_numbers_have_true_minus_signs_and_no_negative_zero(value, expected):
    assert number(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1.2, "+1.20"), (-1.2, "−1.20"), (0.001, "0.00"), (-0.001, "0.00"), (None, "–")],
)
def test_differences_show_their_sign(value, expected):
    assert signed(value) == expected


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (0.45, "45 %"),
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.001, "< 1 %"),
        (0.9999, "> 99 %"),
        (None, "–"),
    ],
)
def test_shares_do_not_round_to_certainty(share, expected):
    assert plain(percent(share)) == expected


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        (0.00001, "< 0.001"),
        (0.0234, "0.023"),
        (0.0999, "0.100"),
        (0.25, "0.25"),
        (1.0, "1.00"),
        (None, "–"),
        (float("nan"), "–"),
    ],
)
def test_p_values_keep_the_digits_that_matter(p, expected):
    assert plain(p_value(p)) == expected


def test_p_in_a_sentence():
    assert plain(p_equals(0.0234)) == "p = 0.023"
    assert plain(p_equals(1e-9)) == "p < 0.001"


def test_a_range_with_an_unknown_end_is_a_dash():
    assert range_of(1.0, 2.5) == "1.00 to 2.50"
    assert range_of(1.0, None) == "–"


@pytest.mark.parametrize(
    ("count", "expected"), [(0, "0 searches"), (1, "1 search"), (1204, "1,204 searches")]
)
def test_counts_agree_with_their_noun(count, expected):
    assert counted(count, "search", "searches") == expected


@pytest.mark.parametrize(
    ("items", "expected"),
    [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")],
)
def test_lists_read_as_prose(items, expected):
    assert listed(items) == expected


def test_long_lists_count_what_they_do_not_name():
    assert listed(list("abcdef"), most=2, last="or") == "a, b or 4 others"
    assert listed(list("abc"), most=2) == "a, b and c", "one more is named, not counted"


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (4.24, "4.2 s"),
        (59.97, "1 min 00 s"),
        (200, "3 min 20 s"),
        (3599.8, "1 h 00 min"),
        (7500, "2 h 05 min"),
        (273_600, "3 d 4 h"),
        (None, "–"),
    ],
)
def test_durations_carry_their_units(seconds, expected):
    assert duration(seconds) == expected


def test_a_loss_in_a_file_is_shown_by_its_class_where_that_is_unique():
    names = ("a.py:Mine", "b.py:Mine", "a.py:Own", "memory:a.py:Own+triplet", "margin")
    shown = shown_names(names)
    assert shown == {"a.py:Own": "Own", "memory:a.py:Own+triplet": "memory:Own+triplet"}
    assert renamed({"a.py:Own": ["a.py:Mine", 1]}, shown) == {"Own": ["a.py:Mine", 1]}


def test_a_name_that_another_begins_with_is_not_renamed_within_it():
    shown = {"m.py:Mine": "Ours", "m.py:MineTwo": "MineTwo", "m.py:Mine+triplet": "Mine+triplet"}
    assert renamed(list(shown), shown) == ["Ours", "MineTwo", "Mine+triplet"]


def test_a_label_replaces_a_name_and_not_the_hyperparameter_of_that_name():
    values = {
        "losses": ["margin", "triplet"],
        "values": {"margin": {"margin": 0.2}},
        "spaces": {"triplet": {"margin": {"low": 0.1}}},
        "tournament": {"against": "margin", "groups": {"margin": ["margin"]}},
        "expect": {"values": [{"loss": "margin", "dataset": "margin"}]},
        "sides": [{"value": "margin", "competitors": ["margin"]}],
    }
    assert renamed(values, {"margin": "Ours"}) == {
        "losses": ["Ours", "triplet"],
        "values": {"Ours": {"margin": 0.2}},
        "spaces": {"triplet": {"margin": {"low": 0.1}}},
        "tournament": {"against": "Ours", "groups": {"margin": ["Ours"]}},
        "expect": {"values": [{"loss": "Ours", "dataset": "margin"}]},
        "sides": [{"value": "margin", "competitors": ["Ours"]}],
    }
