import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.orchestrator.search_samplers.unit_cube import is_inside, value_at
from podium.search_spaces.parameters import Choice, Int, Real

RANGES = [
    Real(0.0, 2.0),
    Real(1e-4, 1e-1, log=True),
    Real(0.0, 1.0, step=0.1),
    Real(2.0, 100.0, step=2.0),
    Int(0, 5),
    Int(1, 10, log=True),
    Int(10, 50, step=10),
]


@given(st.sampled_from([*RANGES, Choice(("a", "b", "c"))]), st.floats(0, 1))
def test_every_coordinate_has_a_value_inside(tried, place):
    assert is_inside(tried, value_at(tried, place))


@pytest.mark.parametrize("tried", RANGES)
def test_the_ends_lie_at_the_ends(tried):
    assert value_at(tried, 0.0) == tried.low
    assert value_at(tried, 1.0) == tried.high


@pytest.mark.parametrize(
    ("tried", "num_values"),
    [(Real(0.0, 1.0, step=0.1), 11), (Int(0, 5), 6), (Int(10, 50, step=10), 5)],
)
def test_values_with_steps_are_as_likely_as_each_other(tried, num_values):
    places = [(i + 0.5) / (100 * num_values) for i in range(100 * num_values)]
    counts = Counter(value_at(tried, place) for place in places)
    assert set(counts.values()) == {100}
    assert len(counts) == num_values


def test_steps_give_what_a_person_would_write():
    assert value_at(Real(0.0, 1.0, step=0.1), 0.3) == 0.3


def test_a_logarithmic_range_is_even_in_the_logarithm():
    tried = Real(1e-4, 1e-1, log=True)
    assert value_at(tried, 1 / 3) == pytest.approx(1e-3)
    assert value_at(Int(1, 9, log=True), math.log(6) / math.log(19)) == 3


@pytest.mark.parametrize(
    ("tried", "value", "expected"),
    [
        (Real(0.0, 1.0), 1.0, True),
        (Real(0.0, 1.0), 1.1, False),
        (Real(0.0, 1.0), "avg", False),
        (Real(0.0, 1.0), True, False),
        (Real(0.0, 1.0, step=0.1), 0.30000000000000004, True),
        (Real(0.0, 1.0, step=0.1), 0.35, False),
        (Int(1, 5), 2.5, False),
        (Int(1, 10, log=True), 7, True),
        (Choice((0.1, 0.2)), 0.3, False),
    ],
)
def test_what_could_be_drawn_is_inside(tried, value, expected):
    assert is_inside(tried, value) is expected
