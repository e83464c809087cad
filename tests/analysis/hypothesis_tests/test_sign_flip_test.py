from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from podium.analysis.hypothesis_tests.sign_flip_test import (
    sign_flip_p_values,
    smallest_sign_flip_p,
)

VALUES = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0])


def p_value(differences):
    return sign_flip_p_values(np.array(differences, dtype=float)[:, None])[0]


def enumerated(differences):
    """Every sign assignment one by one."""
    observed = abs(sum(differences))
    sums = [
        abs(sum(sign * d for sign, d in zip(signs, differences, strict=True)))
        for signs in product((-1, 1), repeat=len(differences))
    ]
    return np.mean([total >= observed - 1e-9 for total in sums])


@given(st.lists(VALUES, min_size=2, max_size=8))
def test_p_counts_all_sign_assignments_also_with_ties_and_zeros(differences):
    assert p_value(differences) == pytest.approx(enumerated(differences))


@pytest.mark.parametrize("seed", range(4))
def test_p_equals_that_of_scipy(seed):
    differences = np.random.default_rng(seed).normal(0.4, 1, size=11)
    expected = stats.permutation_test(
        (differences,),
        lambda x, axis: x.mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    assert p_value(differences) == pytest.approx(expected.pvalue)


def test_differences_that_tie_but_for_rounding_tie():
    assert p_value([0.3 - 0.2, 0.2 - 0.1, -0.1]) == enumerated([1, 1, -1]) == 1


def test_identical_columns_are_never_different():
    assert p_value([0.0] * 30) == p_value([0.0] * 5) == 1


def test_pairs_are_tested_one_by_one_and_their_direction_does_not_matter():
    table = np.random.default_rng(0).normal(size=(9, 4))
    together = sign_flip_p_values(table)
    assert together == pytest.approx([p_value(column) for column in table.T])
    assert sign_flip_p_values(-table) == pytest.approx(together)
    assert sign_flip_p_values(table[::-1]) == pytest.approx(together)


def test_many_blocks_are_sampled_close_to_the_t_test_and_by_their_seed_alone():
    differences = np.random.default_rng(1).normal(0.3, 1, size=60)
    expected = stats.ttest_1samp(differences, 0).pvalue
    assert p_value(differences) == pytest.approx(expected, rel=0.15)
    assert p_value(differences) == p_value(differences)


@pytest.mark.parametrize("num_blocks", [2, 7, 24, 30])
def test_the_least_p_is_that_of_a_clean_sweep(num_blocks):
    reached = p_value(np.arange(1, num_blocks + 1))
    assert reached == pytest.approx(smallest_sign_flip_p(num_blocks), rel=0.2)
    assert reached >= smallest_sign_flip_p(num_blocks) * (1 - 1e-12)


def test_equal_competitors_are_called_different_as_often_as_alpha():
    # Each column is one study of 12 blocks, skewed but symmetric around zero.
    table = np.random.default_rng(2).laplace(size=(12, 1_500))
    share = (sign_flip_p_values(table) <= 0.05).mean()
    assert share == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 1_500))
