from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import friedmanchisquare

from podium.analysis.estimates.ranks import average_ranks
from podium.analysis.hypothesis_tests.friedman import friedman_test
from tests.analysis import thesis_cub200


def random_ranks(seed, num_blocks, num_competitors, num_values=4):
    generator = np.random.default_rng(seed)
    return average_ranks(
        generator.integers(num_values, size=(num_blocks, num_competitors)).astype(float)
    )


@pytest.mark.parametrize("seed", range(20))
def test_chi_square_equals_that_of_scipy_also_with_ties(seed):
    ranks = random_ranks(seed, num_blocks=4 + seed % 9, num_competitors=3 + seed % 5)
    expected = friedmanchisquare(*ranks.T)
    result = friedman_test(ranks)
    assert result.statistic == pytest.approx(expected.statistic)
    assert result.p_value == pytest.approx(expected.pvalue)
    assert result.degrees_of_freedom == ranks.shape[1] - 1


def test_w_follows_its_definition():
    ranks = random_ranks(1, num_blocks=8, num_competitors=4)
    result = friedman_test(ranks)
    chi_square = friedmanchisquare(*ranks.T).statistic
    assert result.kendall_w == pytest.approx(chi_square / (8 * 3))


def test_the_thesis_table_gives_the_published_verdict():
    result = friedman_test(thesis_cub200.tournament().ranks_BC)
    assert result.statistic == pytest.approx(81.455, abs=5e-4)
    assert result.degrees_of_freedom == 9
    assert result.p_value == pytest.approx(8e-14, rel=0.05)
    assert result.permutation_p_value is None


def test_blocks_in_perfect_agreement_give_w_one():
    result = friedman_test(np.tile([1.0, 2.0, 3.0], (5, 1)))
    assert result.kendall_w == pytest.approx(1)


def test_nothing_is_known_when_every_block_is_one_tie():
    result = friedman_test(np.full((4, 3), 2.0))
    assert np.isnan([result.statistic, result.p_value, result.kendall_w]).all()
    assert result.permutation_p_value is None


def test_permutation_p_agrees_with_full_enumeration():
    ranks = np.array([[1.0, 2.0, 3.0], [1.0, 2.5, 2.5], [2.0, 1.0, 3.0], [1.0, 3.0, 2.0]])

    def spread(rows):
        return ((np.sum(rows, axis=0) - 8) ** 2).sum()

    outcomes = [spread(rows) for rows in product(*(list(permutations(row)) for row in ranks))]
    exact = np.mean(np.array(outcomes) >= spread(ranks) - 1e-9)
    # 9,999 permutations have a standard error below 0.005; five of them.
    assert friedman_test(ranks).permutation_p_value == pytest.approx(exact, abs=0.025)
