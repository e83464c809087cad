import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.analysis.hypothesis_tests.pairwise_comparisons import compare_pairs, holm


def slow_holm(p_values):
    """Holm 1979 by its closed form: the largest of the smaller p, each times what is left."""
    ordered = sorted(p_values)
    stepped = [(len(ordered) - i) * p for i, p in enumerate(ordered)]
    return [min(1, max(stepped[: ordered.index(p) + 1])) for p in p_values]


@given(st.lists(st.floats(0, 1), max_size=8, unique=True))
def test_holm_equals_its_closed_form(p_values):
    assert holm(p_values) == pytest.approx(slow_holm(p_values))


def test_holm_refuses_an_unknown_p():
    with pytest.raises(ValueError, match="every p of the family"):
        holm([0.01, float("nan")])


def test_pairs_count_blocks_and_are_tested_by_units():
    scores = np.array([[3.0, 1, 2], [3, 4, 2], [2, 2, 1], [5, 4, 3]])
    units = np.random.default_rng(0).normal(size=(6, 3))
    a_b, a_c, b_c = compare_pairs(list("abc"), scores, units, alpha=0.05)
    assert [(pair.a, pair.b) for pair in (a_b, a_c, b_c)] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert (a_b.wins, a_b.ties, a_b.losses) == (2, 1, 1)
    assert a_b.mean_difference == pytest.approx((units[:, 0] - units[:, 1]).mean())
    assert a_b.low < a_b.mean_difference < a_b.high


def test_without_units_nothing_is_tested():
    (pair,) = compare_pairs(["a", "b"], np.array([[3.0, 1], [4, 1]]), None, alpha=0.05)
    assert (pair.mean_difference, pair.p, pair.low, pair.high) == (2.5, None, None, None)
    assert not pair.differs(0.05)


def test_one_against_each_other_is_a_smaller_family():
    units = np.random.default_rng(4).normal(size=(8, 5))
    every = compare_pairs(list("abcde"), units, units, alpha=0.05)
    asked = compare_pairs(list("abcde"), units, units, alpha=0.05, against="c")
    assert [(pair.a, pair.b) for pair in asked] == [("a", "c"), ("b", "c"), ("c", "d"), ("c", "e")]
    p = {(pair.a, pair.b): pair.p for pair in every}
    assert all(pair.p <= p[pair.a, pair.b] for pair in asked)
    assert any(pair.p < p[pair.a, pair.b] for pair in asked)
