import pytest
from scipy import stats

from podium.analysis.estimates.wilson_interval import wilson_interval


@pytest.mark.parametrize(("successes", "num"), [(0, 5), (3, 5), (5, 5), (40, 90)])
def test_it_is_scipys_wilson_interval(successes, num):
    expected = stats.binomtest(successes, num).proportion_ci(0.95, method="wilson")
    interval = wilson_interval(successes, num)
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))
    assert (interval.estimate, interval.num) == (successes / num, num)


def test_it_has_a_width_where_all_num_succeeded():
    interval = wilson_interval(10, 10)
    assert interval.high == 1
    assert interval.low == pytest.approx(0.722, abs=1e-3)
