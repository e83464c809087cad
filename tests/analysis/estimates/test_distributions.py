import math
import warnings

import numpy as np
import pytest
from scipy import stats

from podium.analysis.estimates.distributions import (
    binomial_tail,
    chi_square_tail,
    normal_tail,
    studentized_range_quantile,
    studentized_range_tail,
    t_quantile,
    t_tail,
)


@pytest.mark.parametrize("x", [0.0, 0.3, 2.5, 40.0])
def test_tails_equal_those_of_scipy_stats(x):
    assert normal_tail(x) == pytest.approx(stats.norm.sf(x), rel=1e-12)
    assert normal_tail(-x) == pytest.approx(stats.norm.sf(-x), rel=1e-12)
    assert t_tail(x, 7) == pytest.approx(stats.t.sf(x, 7), rel=1e-12)
    assert t_tail(-x, 7) == pytest.approx(stats.t.sf(-x, 7), rel=1e-12)
    assert chi_square_tail(x, 9) == pytest.approx(stats.chi2.sf(x, 9), rel=1e-12)


@pytest.mark.parametrize("probability", [0.025, 0.5, 0.975])
def test_t_quantiles_equal_those_of_scipy_stats(probability):
    assert t_quantile(probability, 4) == pytest.approx(stats.t.ppf(probability, 4), abs=1e-10)


def test_the_binomial_tail_is_a_sum_and_takes_as_many_draws_as_a_large_study_has():
    tail = sum(math.comb(20, k) * 0.1**k * 0.9 ** (20 - k) for k in range(4, 21))
    assert binomial_tail(4, 20, 0.1) == pytest.approx(tail)
    assert binomial_tail(60, 3000, 0.02) == pytest.approx(stats.binom.sf(59, 3000, 0.02))


def test_an_unknown_statistic_has_an_unknown_tail():
    assert np.isnan(chi_square_tail(float("nan"), 3))


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
