import numpy as np
import pytest
import scikit_posthocs

from podium.analysis.estimates.ranks import average_ranks
from podium.analysis.hypothesis_tests.nemenyi import (
    critical_difference,
    nemenyi_p_value,
    pool_sensitivity,
)
from tests.analysis import thesis_cub200

# Demšar 2006, table 5a: q at alpha 0.05, divided by the root of two, for 2 to 10 competitors.
DEMSAR_Q = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]


@pytest.mark.parametrize(("num_competitors", "q"), list(enumerate(DEMSAR_Q, start=2)))
def test_critical_differences_use_the_published_quantiles(num_competitors, q):
    unit = np.sqrt(num_competitors * (num_competitors + 1) / (6 * 14))
    # The published table was rounded, and truncated in places.
    assert critical_difference(num_competitors, 14) / unit == pytest.approx(q, abs=1.1e-3)


def test_the_thesis_pool_needs_almost_four_ranks():
    assert critical_difference(10, 12) == pytest.approx(3.9104, abs=5e-5)
    assert critical_difference(5, 12) == pytest.approx(1.761, abs=5e-4)


@pytest.mark.parametrize("seed", range(5))
def test_p_values_equal_those_of_scikit_posthocs(seed):
    scores = np.random.default_rng(seed).normal(size=(9, 5))
    expected = scikit_posthocs.posthoc_nemenyi_friedman(scores).to_numpy()
    average = average_ranks(scores).mean(axis=0)
    for a in range(5):
        for b in range(a):
            p = nemenyi_p_value(average[a] - average[b], 5, 9)
            assert p == pytest.approx(expected[a, b], abs=1e-6)


def test_p_is_alpha_at_the_critical_difference():
    assert nemenyi_p_value(critical_difference(6, 10, 0.1), 6, 10) == pytest.approx(0.1)


def test_first_and_second_of_the_thesis_differ_among_five_but_not_in_the_pool_of_ten():
    pool = thesis_cub200.independent().pool
    assert pool.critical_difference == pytest.approx(3.9104, abs=5e-5)
    assert pool.critical_difference_in_pool == pytest.approx(1.761, abs=5e-4)
    first = pool.changed[0]
    assert (first.a, first.b) == ("ProxyAnchor", "SoftTriple")
    assert first.gap == pytest.approx(2.17, abs=5e-3)
    assert first.gap_in_pool == pytest.approx(1.917, abs=5e-4)
    assert first.is_different_in_pool


@pytest.mark.parametrize("seed", range(6))
def test_verdicts_that_change_are_those_of_scikit_posthocs(seed):
    generator = np.random.default_rng(seed)
    scores = generator.normal(size=(14, 8)).round(1) - np.linspace(0, 2.5, 8)
    names = list("abcdefgh")
    of_all = scikit_posthocs.posthoc_nemenyi_friedman(scores).to_numpy()
    best = scikit_posthocs.posthoc_nemenyi_friedman(scores[:, :5]).to_numpy()
    expected = {
        (names[a], names[b])
        for b in range(5)
        for a in range(b)
        if (of_all[a, b] <= 0.05) != (best[a, b] <= 0.05)
    }
    found = pool_sensitivity(names, scores, 0.05, num_independent=14)
    assert {(change.a, change.b) for change in found.changed} == expected
    assert found.pool == tuple("abcde")


def test_five_are_their_own_pool():
    scores = np.random.default_rng(0).normal(size=(9, 5))
    assert pool_sensitivity(list("abcde"), scores, 0.05, num_independent=9) is None


def test_groups_of_blocks_make_critical_differences_as_large_as_so_many_blocks():
    pool = thesis_cub200.tournament().pool
    assert pool.critical_difference == pytest.approx(critical_difference(10, 3))
    assert pool.critical_difference_in_pool == pytest.approx(critical_difference(5, 3))
    assert pool.changed == ()  # 2.83 ranks among five are less than 3.52
