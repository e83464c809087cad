import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

from podium.analysis.hypothesis_tests.corrected_resampled_t import (
    corrected_resampled_t,
    fold_statistics,
)
from tests.analysis import thesis_cub200


def test_the_ten_folds_of_the_thesis_give_its_mean_and_deviation():
    folds = pl.read_csv(thesis_cub200.DATA / "thesis_cross_validation.csv")
    mean, std = fold_statistics(folds["test_recall_at_1"].to_list())
    assert mean == pytest.approx(63.605)
    assert std == pytest.approx(0.595, abs=5e-4)


def test_one_fold_has_no_deviation():
    assert fold_statistics([0.5]) == (0.5, None)


def test_without_correction_it_is_the_paired_t_test():
    a, b = np.random.default_rng(0).normal(size=(2, 10))
    plain = stats.ttest_rel(a, b)
    found, p_value = corrected_resampled_t(a, b, held_out_ratio=0)
    assert found.estimate / found.standard_error == pytest.approx(plain.statistic)
    assert p_value == pytest.approx(plain.pvalue)
    interval = plain.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))


def test_the_correction_widens_by_the_shared_training_data():
    a, b = np.random.default_rng(1).normal(size=(2, 10))
    plain, _ = corrected_resampled_t(a, b, held_out_ratio=0)
    corrected, p_value = corrected_resampled_t(a, b, held_out_ratio=1 / 9)
    widening = math.sqrt((1 / 10 + 1 / 9) / (1 / 10))
    assert corrected.standard_error == pytest.approx(plain.standard_error * widening)
    statistic = corrected.estimate / corrected.standard_error
    assert p_value == pytest.approx(2 * stats.t.sf(abs(statistic), 9))
    assert corrected.high - corrected.low == pytest.approx(widening * (plain.high - plain.low))


def test_the_difference_is_a_minus_b():
    found, _ = corrected_resampled_t([3, 4, 6], [1, 1, 1], held_out_ratio=0.5)
    assert found.estimate == pytest.approx(10 / 3)


@pytest.mark.parametrize("shift", [0, 1, 1e9])
def test_differences_without_scatter_have_no_test(shift):
    scores = np.array([1.0, 2.0, 4.0])
    assert corrected_resampled_t(scores + shift, scores, held_out_ratio=0.5) is None
    noise = np.array([1e-12, 0, -1e-12])
    assert corrected_resampled_t(scores + shift + noise, scores, held_out_ratio=0.5) is None


@pytest.mark.parametrize("num", [0, 1, 2])
def test_fewer_than_three_folds_have_no_test(num):
    a, b = np.random.default_rng(0).normal(size=(2, num))
    assert corrected_resampled_t(a, b, held_out_ratio=1) is None


def test_unpaired_folds_are_refused():
    with pytest.raises(ValueError, match="same folds on both sides; got 2 and 3"):
        corrected_resampled_t([1, 2], [1, 2, 3], held_out_ratio=0.1)
