import warnings

import numpy as np
import pytest
from scipy import stats

from podium.analysis.estimates.distributions import (
    studentized_range_quantile,
    studentized_range_tail,
    t_tail,
)


@pytest.mark.parametrize("x", [0.0, 0.3, 2.5, 40.0])
def test_tails_equal_those_of_scipy_stats(x):
    assert t_tail(x, 7) == pytest.approx(stats.t.sf(x, 7), rel=1e-12)
    assert t_tail(-x, 7) == pytest.approx(stats.t.sf(-x, 7), rel=1e-12)


@pytest.mark.parametrize("num_groups", [2, 3, 10, 50])
@pytest.mark.parametrize("q", [0.1, 1.0, 3.3, 5.5])
def test_the_studentized_range_equals_that_of_scipy_stats(num_groups, q):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scipy integrates adaptively and grumbles
        expected = stats.studentized_range.sf(q, num_groups, np.inf)
    assert studentized_range_tail(q, num_groups) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("q", [0.0, -1.0])
def test_a_range_is_never_negative(q):
    assert studentized_range_tail(q, 3) == 1


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.1])
@pytest.mark.parametrize("num_groups", [2, 5, 10])
def test_a_quantile_is_reached_with_its_probability(alpha, num_groups):
    q = studentized_range_quantile(alpha, num_groups)
    assert studentized_range_tail(q, num_groups) == pytest.approx(alpha, rel=1e-9)
