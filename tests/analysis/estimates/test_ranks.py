import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.stats import rankdata

from podium.analysis.estimates.ranks import average_ranks, standings

# Few distinct values, so that ties are common.
SCORES = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=7),
    elements=st.integers(-3, 3).map(float),
)


@given(SCORES)
def test_ranks_equal_those_of_scipy(scores):
    assert np.array_equal(average_ranks(scores), rankdata(-scores, axis=1, method="average"))


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_a_score_that_is_not_finite_gets_no_rank(bad):
    with pytest.raises(ValueError, match="finite scores"):
        average_ranks(np.array([[0.5, bad]]))


def test_a_standing_sums_up_the_ranks_of_a_competitor():
    scores = np.array([[3.0, 2.0, 1.0], [3.0, 3.0, 1.0], [1.0, 3.0, 2.0]])
    first, second, third = standings(["a", "b", "c"], scores)
    assert (first.competitor, first.total_rank) == ("b", 2 + 1.5 + 1)
    assert (second.competitor, second.total_rank) == ("a", 1 + 1.5 + 3)
    assert (third.competitor, third.total_rank) == ("c", 3 + 3 + 2)
    assert second.average_rank == pytest.approx(5.5 / 3)
    assert second.rank_std == pytest.approx(np.std([1, 1.5, 3], ddof=1))
    assert (second.min_rank, second.max_rank) == (1, 3)
    assert second.mean_score == pytest.approx(7 / 3)
    assert [s.place for s in (first, second, third)] == [1, 2, 3]
    assert {s.blocks for s in (first, second, third)} == {3}


def test_a_win_is_a_sole_first():
    shared, sole = [2.0, 2.0, 1.0], [2.0, 1.0, 1.0]
    wins = {s.competitor: s.wins for s in standings(["a", "b", "c"], np.array([shared, sole]))}
    assert wins == {"a": 1, "b": 0, "c": 0}


def test_equal_totals_share_a_place_and_stand_in_the_order_of_names():
    table = standings(["d", "c", "b", "a"], np.array([[4.0, 3.0, 2.0, 1.0], [4.0, 1.0, 2.0, 3.0]]))
    assert [(s.place, s.competitor) for s in table] == [(1, "d"), (2, "a"), (2, "b"), (2, "c")]


def test_one_block_has_no_standard_deviation():
    assert [s.rank_std for s in standings(["a", "b"], np.array([[1.0, 2.0]]))] == [None, None]
