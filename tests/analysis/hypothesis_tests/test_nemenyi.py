import numpy as np
import pytest
import scikit_posthocs

from podium.analysis.estimates.ranks import average_ranks
from podium.analysis.hypothesis_tests.nemenyi import (
    critical_difference,
    nemenyi_groups,
    nemenyi_p_value,
)

# Demšar 2006, table 5a: q at alpha 0.05, divided by the root of two, for 2 to 10 competitors.
DEMSAR_Q = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]


@pytest.mark.parametrize(("num_competitors", "q"), list(enumerate(DEMSAR_Q, start=2)))
def test_critical_differences_use_the_published_quantiles(num_competitors, q):
    unit = np.sqrt(num_competitors * (num_competitors + 1) / (6 * 14))
    # The published table was rounded, and truncated in places.
    assert critical_difference(num_competitors, 14) / unit == pytest.approx(q, abs=1.1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_p_values_equal_those_of_scikit_posthocs(seed):
    scores = np.random.default_rng(seed).normal(size=(9, 5))
    expected = scikit_posthocs.posthoc_nemenyi_friedman(scores).to_numpy()
    average = average_ranks(scores).mean(axis=0)
    for a in range(5):
        for b in range(a):
            p = nemenyi_p_value(average[a] - average[b], 5, 9)
            assert p == pytest.approx(expected[a, b], abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_groups_are_the_largest_runs_within_the_critical_difference(seed):
    ranks = np.sort(np.random.default_rng(seed).uniform(1, 8, size=8)).tolist()
    joined = [
        range(i, j) for i in range(8) for j in range(i + 2, 9) if ranks[j - 1] - ranks[i] < 2.5
    ]
    largest = [one for one in joined if not any(set(one) < set(other) for other in joined)]
    assert nemenyi_groups(ranks, 2.5) == largest
