from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata, wilcoxon

from podium.analysis.hypothesis_tests.wilcoxon import (
    signed_rank_test,
    signed_rank_tests,
)


def brute_force_p(differences):
    """Share of all sign assignments whose statistic is at least as far from its mean."""
    nonzero = np.array([d for d in differences if d != 0])
    ranks = rankdata(np.abs(nonzero)) if len(nonzero) else np.array([])
    centre = ranks.sum() / 2
    observed = abs(ranks[nonzero > 0].sum() - centre)
    flips = [
        abs(np.dot(signs, ranks) - centre) >= observed - 1e-9
        for signs in product([0, 1], repeat=len(ranks))
    ]
    return np.mean(flips)


def differences_test(differences):
    differences = np.array(differences, dtype=float)
    return signed_rank_test(differences, np.zeros(len(differences)))


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_p_equals_brute_force_with_ties_and_zeros(differences):
    assert differences_test(differences).p_value == pytest.approx(brute_force_p(differences))


@pytest.mark.parametrize("num_pairs", [1, 2, 5, 12, 28, 60])
def test_without_ties_or_zeros_p_is_that_of_the_exact_table(num_pairs):
    differences = np.random.default_rng(num_pairs).normal(0.3, size=num_pairs)
    result = differences_test(differences)
    assert result.method == "exact"
    assert result.p_value == pytest.approx(wilcoxon(differences, method="exact").pvalue)


def test_ties_and_zeros_are_counted_over_sign_flips():
    assert differences_test([1, 1, -2, 3]).method == "sign_flip"
    assert differences_test([0, 1, 2, 3]).method == "sign_flip"
    assert differences_test([0, 1, 2, 3]).num_nonzero == 3


def test_magnitudes_that_differ_by_rounding_only_are_tied():
    # 60.3 - 60.2 and 60.2 - 60.1 are not the same float.
    a, b = np.array([60.3, 60.1, 63.0]), np.array([60.2, 60.2, 61.0])
    result = signed_rank_test(a, b)
    assert result.method == "sign_flip"
    assert result.statistic == 1.5 + 3


def test_many_pairs_use_the_normal_approximation():
    differences = np.random.default_rng(2).normal(0.05, size=700).round(1)
    result = differences_test(differences)
    expected = wilcoxon(differences, method="asymptotic", correction=False)
    assert result.method == "normal"
    assert result.p_value == pytest.approx(expected.pvalue)


@given(st.integers(1, 9), st.integers(1, 5), st.sampled_from([0, 1, 6]), st.integers(0, 2**32 - 1))
def test_all_pairs_at_once_are_the_single_tests_to_the_last_bit(
    num_blocks, num_competitors, decimals, seed
):
    # Few decimals make ties and zeros.
    scores = np.random.default_rng(seed).normal(60, 2, (num_blocks, num_competitors))
    scores = scores.round(decimals)
    expected = [signed_rank_test(a, b) for a, b in combinations(scores.T, 2)]
    assert signed_rank_tests(scores) == expected


def test_all_pairs_of_many_blocks_are_the_single_tests():
    scores = np.random.default_rng(1).normal(60, 2, (501, 3))
    tests = signed_rank_tests(scores)
    assert tests == [signed_rank_test(a, b) for a, b in combinations(scores.T, 2)]
    assert {test.method for test in tests} == {"normal"}


def test_magnitudes_tied_by_rounding_are_tied_in_all_pairs_too():
    scores = np.array([[60.3, 60.2], [60.1, 60.2], [63.0, 61.0]])
    assert signed_rank_tests(scores) == [signed_rank_test(*scores.T)]
