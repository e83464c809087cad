import numpy as np
import pytest
import scikit_posthocs

from analysis.hypothesis_tests.nemenyi import pool_sensitivity
from tests.analysis import thesis_cub200


def test_the_thesis_cannot_tell_first_from_second_in_the_pool_of_ten_but_among_five():
    pool = thesis_cub200.tournament().pool
    assert pool.critical_difference == pytest.approx(3.9104, abs=5e-5)
    assert pool.critical_difference_in_pool == pytest.approx(1.761, abs=5e-4)
    first = pool.changed[0]
    assert (first.a, first.b) == ("ProxyAnchor", "SoftTriple")
    assert first.gap == pytest.approx(2.17, abs=5e-3)
    assert first.gap_in_pool == pytest.approx(1.917, abs=5e-4)
    assert first.is_apart_in_pool


@pytest.mark.parametrize("seed", range(6))
def test_verdicts_that_change_are_those_of_scikit_posthocs(seed):
    generator = np.random.default_rng(seed)
    scores = generator.normal(size=(14, 8)).round(1) - np.linspace(0, 2.5, 8)
    names = list("abcdefgh")
    everybody = scikit_posthocs.posthoc_nemenyi_friedman(scores).to_numpy()
    best = scikit_posthocs.posthoc_nemenyi_friedman(scores[:, :5]).to_numpy()
    expected = {
        (names[a], names[b])
        for b in range(5)
        for a in range(b)
        if (everybody[a, b] <= 0.05) != (best[a, b] <= 0.05)
    }
    found = pool_sensitivity(names, scores, 0.05)
    assert {(change.a, change.b) for change in found.changed} == expected
    assert found.pool == tuple("abcde")


def test_five_are_their_own_pool():
    assert (
        pool_sensitivity(list("abcde"), np.random.default_rng(0).normal(size=(9, 5)), 0.05) is None
    )
