import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from podium.analysis.estimates.kendall_tau import kendall_tau
from tests.analysis import thesis_cub200

PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12)


@given(PAIRS)
def test_tau_equals_that_of_scipy_also_with_ties(pairs):
    x, y = zip(*pairs, strict=True)
    tau, expected = kendall_tau(x, y), kendalltau(x, y).statistic
    assert (math.isnan(tau) and math.isnan(expected)) or tau == pytest.approx(expected)


def test_a_constant_score_orders_nothing():
    assert math.isnan(kendall_tau([1, 1, 1], [1, 2, 3]))
    assert math.isnan(kendall_tau([1], [1]))


def test_best_validation_runs_against_test_over_the_folds_of_the_thesis():
    folds = pl.read_csv(thesis_cub200.DATA / "thesis_cross_validation.csv")
    tau = kendall_tau(folds["best_val_recall_at_1"].to_list(), folds["test_recall_at_1"].to_list())
    assert tau == pytest.approx(-0.449, abs=5e-4)
