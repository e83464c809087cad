import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.anova import AnovaRM

from analysis.hypothesis_tests.anova import paired_t_p_values, repeated_measures_anova
from analysis.hypothesis_tests.pairwise_comparisons import differences, holm
from tests.analysis import thesis_cub200


@pytest.mark.parametrize("seed", range(5))
def test_f_equals_that_of_statsmodels(seed):
    scores = np.random.default_rng(seed).normal(size=(6 + seed, 3 + seed % 3)).round(1)
    found = repeated_measures_anova(scores)
    blocks, names = np.indices(scores.shape)
    long = pd.DataFrame({"y": scores.ravel(), "b": blocks.ravel(), "c": names.ravel()})
    expected = AnovaRM(long, "y", "b", within=["c"]).fit().anova_table.iloc[0]
    assert found.statistic == pytest.approx(expected["F Value"])
    assert found.p_value == pytest.approx(expected["Pr > F"])
    assert found.degrees_of_freedom == (expected["Num DF"], expected["Den DF"])


def slow_epsilon(scores):
    """Greenhouse and Geisser's from the eigenvalues of orthonormal contrasts."""
    num = scores.shape[1]
    contrasts = np.linalg.svd(np.eye(num) - 1 / num)[0][:, : num - 1]
    values = np.linalg.eigvalsh(contrasts.T @ np.cov(scores, rowvar=False) @ contrasts)
    return values.sum() ** 2 / ((num - 1) * (values**2).sum())


@pytest.mark.parametrize("seed", range(3))
def test_epsilon_is_that_of_orthonormal_contrasts(seed):
    scores = np.random.default_rng(seed).normal(size=(8, 4)) * [1, 2, 3, 4]
    found = repeated_measures_anova(scores)
    epsilon = slow_epsilon(scores)
    assert found.epsilon == pytest.approx(epsilon)
    expected = stats.f.sf(found.statistic, 3 * epsilon, 21 * epsilon)
    assert found.corrected_p_value == pytest.approx(expected)


def test_blocks_at_other_levels_change_nothing():
    scores = np.random.default_rng(0).normal(size=(7, 4))
    moved = repeated_measures_anova(scores + np.arange(7)[:, None] * 30)
    assert moved.statistic == pytest.approx(repeated_measures_anova(scores).statistic)


def test_nothing_is_known_without_differences_and_all_where_they_never_vary():
    nothing = repeated_measures_anova(np.full((4, 3), 0.7))
    assert np.isnan([nothing.statistic, nothing.p_value, nothing.corrected_p_value]).all()
    certain = repeated_measures_anova(np.arange(4.0)[:, None] + [0.1, 0.2, 0.4])
    assert (certain.statistic, certain.p_value) == (float("inf"), 0)


@pytest.mark.parametrize("seed", range(3))
def test_paired_t_equals_that_of_scipy(seed):
    scores = np.random.default_rng(seed).normal(size=(8, 2))
    expected = stats.ttest_rel(scores[:, 0], scores[:, 1]).pvalue
    assert paired_t_p_values(differences(scores)) == pytest.approx([expected])


@pytest.mark.parametrize(("gap", "p_value"), [(0, 1), (1, 0), (0.1, 0)])
def test_gaps_without_spread_are_certain(gap, p_value):
    scores = np.array([0.3, 0.2, 0.7, 0.1])
    gaps = np.full((4, 1), gap) if gap != 0.1 else (scores + gap - scores)[:, None]
    assert paired_t_p_values(gaps) == [p_value]


def test_by_holm_over_t_tests_27_pairs_of_the_thesis_are_significantly_different():
    scores = thesis_cub200.tournament().scores_BC
    adjusted = holm(paired_t_p_values(differences(scores)).tolist())
    assert sum(p <= 0.05 for p in adjusted) == 27


def test_equal_competitors_are_called_different_as_often_as_alpha():
    generator = np.random.default_rng(3)
    rounds = 600
    tables = generator.normal(size=(rounds, 10, 4))
    omnibus = np.mean([repeated_measures_anova(table).p_value <= 0.05 for table in tables])
    pairs = np.mean(
        [min(holm(paired_t_p_values(differences(t)).tolist())) <= 0.05 for t in tables]
    )
    slack = 4 * np.sqrt(0.05 * 0.95 / rounds)
    assert omnibus == pytest.approx(0.05, abs=slack)
    assert pairs <= 0.05 + slack
