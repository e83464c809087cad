from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata, wilcoxon

from podium.analysis.hypothesis_tests.wilcoxon import signed_rank_p


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


def p_of(differences):
    differences = np.array(differences, dtype=float)
    return signed_rank_p(differences, np.zeros(len(differences)))


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_p_equals_brute_force_with_ties_and_zeros(differences):
    assert p_of(differences) == pytest.approx(brute_force_p(differences))


@pytest.mark.parametrize("num_pairs", [1, 2, 5, 12, 28, 60])
def test_without_ties_or_zeros_p_is_that_of_the_exact_table(num_pairs):
    differences = np.random.default_rng(num_pairs).normal(0.3, size=num_pairs)
    assert p_of(differences) == pytest.approx(wilcoxon(differences, method="exact").pvalue)


def test_magnitudes_that_differ_by_rounding_only_are_tied():
    # 60.3 - 60.2 and 60.2 - 60.1 are not the same float.
    a, b = np.array([60.3, 60.1, 63.0]), np.array([60.2, 60.2, 61.0])
    assert signed_rank_p(a, b) == brute_force_p([1, -1, 20])


def test_many_pairs_use_the_normal_approximation():
    differences = np.random.default_rng(2).normal(0.05, size=700).round(1)
    expected = wilcoxon(differences, method="asymptotic", correction=False)
    assert p_of(differences) == pytest.approx(expected.pvalue)
