from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import permutation_test
from scipy.stats import wilcoxon as scipy_wilcoxon

from podium.analysis.estimates.ranks import average_ranks
from podium.analysis.hypothesis_tests.nemenyi import nemenyi_p_value
from podium.analysis.hypothesis_tests.pairwise_comparisons import (
    blocks_needed,
    compare_pairs,
    holm,
    p_value_matrix,
    smallest_p,
)
from tests.analysis import thesis_cub200


def slow_holm(p_values):
    """Holm 1979 by its closed form: the largest of the smaller p, each times what is left."""
    ordered = sorted(p_values)
    stepped = [(len(ordered) - i) * p for i, p in enumerate(ordered)]
    return [min(1, max(stepped[: ordered.index(p) + 1])) for p in p_values]


@given(st.lists(st.floats(0, 1), max_size=8, unique=True))
def test_holm_equals_its_closed_form(p_values):
    assert holm(p_values) == pytest.approx(slow_holm(p_values))


def test_holm_of_a_textbook_example():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_refuses_an_unknown_p():
    with pytest.raises(ValueError, match="every p of the family"):
        holm([0.01, float("nan")])


def test_differences_of_a_pair_are_a_minus_b():
    scores = np.array([[3.0, 1.0], [2.0, 2.0], [1.0, 2.5], [4.0, 1.0]])
    (pair,) = compare_pairs(["x", "y"], scores, scores)
    assert (pair.a, pair.b) == ("x", "y")
    assert pair.mean_difference == pytest.approx((2 + 0 - 1.5 + 3) / 4)
    assert (pair.wins, pair.ties, pair.losses) == (2, 1, 1)
    assert pair.rank_difference == pytest.approx((1 + 1.5 + 2 + 1) / 4 - (2 + 1.5 + 1 + 2) / 4)
    assert pair.p_nemenyi is None
    assert pair.p_holm == pair.wilcoxon.p_value


def test_too_few_units_test_nothing():
    scores = np.array([[3.0, 1.0, 2.0]])
    for pair in compare_pairs(["x", "y", "z"], scores, None):
        assert (pair.wilcoxon, pair.p_holm, pair.p_nemenyi) == (None, None, None)


def test_the_thesis_table_has_26_wilcoxon_and_14_nemenyi_pairs_if_its_blocks_are_independent():
    held = thesis_cub200.tournament()
    pairs = compare_pairs(held.names, held.scores_BC, held.scores_BC)
    assert pairs == thesis_cub200.independent().pairs
    assert len(pairs) == 45
    assert sum(pair.p_holm <= 0.05 for pair in pairs) == 26
    assert sum(pair.p_nemenyi <= 0.05 for pair in pairs) == 14


def test_its_three_backbones_cannot_tell_any_pair_apart():
    pairs = thesis_cub200.tournament().pairs
    # Wilcoxon's p of three differences of one sign is 2 / 2^3, of one pair out of 45.
    assert min(pair.wilcoxon.p_value for pair in pairs) == 0.25
    assert {pair.p_holm for pair in pairs} == {1}


def sign_flips(gaps):
    """Two-sided p of the mean gap, by hand: the share of flips with a mean as far from 0."""
    flipped = [abs(np.dot(signs, gaps)) for signs in product((-1, 1), repeat=len(gaps))]
    return np.mean([total >= abs(np.sum(gaps)) - 1e-9 for total in flipped])


def test_pairs_are_tested_by_groups_and_counted_by_blocks():
    generator = np.random.default_rng(2)
    of_block = np.repeat(np.arange(7), [4, 4, 2, 1, 3, 4, 2])
    scores = generator.normal(size=(20, 3)) - [0, 0.5, 1]
    groups = np.array([scores[of_block == g].mean(axis=0) for g in range(7)])
    columns = [(0, 1), (0, 2), (1, 2)]
    wilcoxon = compare_pairs(list("abc"), scores, groups)
    flips = compare_pairs(list("abc"), scores, groups, test="permutation_holm")
    for pair, (a, b) in zip(wilcoxon, columns, strict=True):
        assert pair.wilcoxon.p_value == pytest.approx(
            scipy_wilcoxon(groups[:, a], groups[:, b], method="exact").pvalue
        )
        assert pair.wins == sum(scores[:, a] > scores[:, b])
        assert pair.mean_difference == pytest.approx((scores[:, a] - scores[:, b]).mean())
        gap = average_ranks(scores)[:, a].mean() - average_ranks(scores)[:, b].mean()
        assert pair.rank_difference == pytest.approx(gap)
        assert pair.p_nemenyi == pytest.approx(nemenyi_p_value(gap, 3, 7))
    raw = [sign_flips(groups[:, a] - groups[:, b]) for a, b in columns]
    assert [pair.p for pair in flips] == pytest.approx(slow_holm(raw))


@pytest.mark.parametrize(
    ("num_blocks", "raw", "adjusted"), [(4, 0.125, 1), (12, 2**-11, 45 / 2048)]
)
def test_few_blocks_cannot_give_a_small_p(num_blocks, raw, adjusted):
    smallest = smallest_p(num_blocks, num_competitors=10)
    assert smallest.raw == pytest.approx(raw)
    assert smallest.adjusted == pytest.approx(adjusted)


def test_no_pair_of_any_table_beats_the_smallest_p():
    scores = np.tile([3.0, 2.0, 1.0], (8, 1)) + np.random.default_rng(0).random((8, 3)) / 10
    best = min(pair.p_holm for pair in compare_pairs(["a", "b", "c"], scores, scores))
    assert best == pytest.approx(smallest_p(8, 3).adjusted)
    assert best < 0.05


def test_the_matrix_of_p_is_symmetric_and_unknown_where_p_is():
    scores = np.random.default_rng(0).normal(size=(6, 3))
    tested = compare_pairs(["a", "b", "c"], scores, scores)
    p = p_value_matrix(["a", "b", "c"], tested)
    assert np.array_equal(p, p.T)
    assert p[0, 2] == tested[1].p_holm
    assert p_value_matrix(["a", "b", "c"], tested, nemenyi=True)[1, 2] == tested[2].p_nemenyi
    untested = compare_pairs(["a", "b"], scores[:1, :2], None)
    assert np.isnan(p_value_matrix(["a", "b"], untested)[0, 1])


@pytest.mark.parametrize("p", [None, float("nan"), 0.051])
def test_an_unknown_p_is_not_different(p):
    scores = np.array([[3.0, 1.0], [2.0, 1.0]])
    (pair,) = compare_pairs(["x", "y"], scores, scores)
    assert not replace(pair, p=p).differs(0.05)
    assert replace(pair, p=0.05).differs(0.05)


def test_the_verdict_is_that_of_the_declared_test():
    scores = np.random.default_rng(1).normal(size=(9, 4)) - np.arange(4) / 2
    flips = holm(
        [
            permutation_test(
                (scores[:, a] - scores[:, b],),
                np.mean,
                permutation_type="samples",
                n_resamples=np.inf,
            ).pvalue
            for a in range(4)
            for b in range(a + 1, 4)
        ]
    )
    names = list("abcd")
    wilcoxon, nemenyi, permutation = (
        compare_pairs(names, scores, scores, test=test)
        for test in ("wilcoxon_holm", "nemenyi", "permutation_holm")
    )
    assert [pair.p for pair in wilcoxon] == [pair.p_holm for pair in wilcoxon]
    assert [pair.p for pair in nemenyi] == [pair.p_nemenyi for pair in nemenyi]
    assert [pair.p for pair in permutation] == pytest.approx(flips)
    assert [pair.p_holm for pair in permutation] == [pair.p_holm for pair in wilcoxon]


def test_the_blocks_needed_are_the_fewest_that_can_reach_alpha():
    for test in ("wilcoxon_holm", "permutation_holm", "nemenyi"):
        needed = blocks_needed(5, 0.05, test)
        assert smallest_p(needed, 5, test).adjusted <= 0.05
        assert smallest_p(needed - 1, 5, test).adjusted > 0.05


def test_sampled_permutations_may_never_be_enough():
    assert blocks_needed(400, 0.01, "permutation_holm") == 24
    assert blocks_needed(2_000, 0.001, "permutation_holm") is None
