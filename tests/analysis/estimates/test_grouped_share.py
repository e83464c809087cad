"""Intervals of means of shares whose blocks resemble each other within groups."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from podium.analysis.estimates.grouped_share import FEWEST_GROUPS, grouped_share_intervals
from tests.analysis.estimates.slow_grouped_share import blocks_of, slow_interval

SHARES = st.sampled_from([0.0, 0.5, 1.0]) | st.floats(0, 1)


def interval(shares, members):
    low_C, high_C = grouped_share_intervals(np.array(shares, dtype=float)[:, None], members)
    return float(low_C[0]), float(high_C[0])


@st.composite
def grouped_shares(draw):
    sizes = draw(st.lists(st.integers(1, 4), min_size=FEWEST_GROUPS, max_size=9))
    count = sum(sizes)
    return draw(st.lists(SHARES, min_size=count, max_size=count)), blocks_of(sizes)


@given(grouped_shares())
def test_the_interval_is_wilsons_with_the_variance_of_leaving_out_groups(given_shares):
    shares, members = given_shares
    assert interval(shares, members) == pytest.approx(slow_interval(shares, members), abs=1e-6)


@given(grouped_shares())
def test_the_interval_holds_its_mean_and_stays_between_0_and_1(given_shares):
    shares, members = given_shares
    low, high = interval(shares, members)
    assert 0 <= low <= np.mean(shares) <= high <= 1


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_groups_that_all_agree_at_an_end_leave_a_width(share):
    low, high = interval([share] * 24, blocks_of([4] * 6))
    # Wilson's with 6 of 6 and t of 5 degrees of freedom: 6 / (6 + 2.5706^2).
    assert high - low == pytest.approx(1 - 6 / (6 + 2.5706**2), abs=1e-4)
    assert share in (low, high)


def test_groups_of_one_block_are_the_blocks():
    shares = np.random.default_rng(0).random(8)
    # A jackknife of single values has the variance of their mean, s^2 / n.
    size = shares.mean() * (1 - shares.mean()) / (shares.var(ddof=1) / 8)
    wilson = proportion_confint(shares.mean() * size, size, method="wilson", alpha=0.05)
    low, high = interval(shares, blocks_of([1] * 8))
    assert low < wilson[0] < wilson[1] < high  # t of 7 degrees of freedom reaches further
    assert (low, high) == pytest.approx(slow_interval(shares, blocks_of([1] * 8)))


def test_blocks_that_repeat_each_other_add_nothing():
    shares = np.random.default_rng(1).random(6)
    alone = interval(shares, blocks_of([1] * 6))
    assert interval(np.repeat(shares, 4), blocks_of([4] * 6)) == pytest.approx(alone)


def test_each_column_has_an_interval_of_its_own():
    shares_BC = np.random.default_rng(2).random((10, 3))
    members = blocks_of([2] * 5)
    low_C, high_C = grouped_share_intervals(shares_BC, members)
    alone = [interval(column, members) for column in shares_BC.T]
    assert np.stack([low_C, high_C], axis=1) == pytest.approx(np.array(alone))


@pytest.mark.parametrize("num_groups", range(1, FEWEST_GROUPS))
def test_fewer_than_five_groups_have_no_interval(num_groups):
    members = blocks_of([4] * num_groups)
    assert grouped_share_intervals(np.full((4 * num_groups, 2), 0.5), members) is None


@pytest.mark.parametrize("icc", [0.0, 0.8])
@pytest.mark.parametrize("sizes", [[4] * 5, [4] * 9, [1] * 8, [1, 2, 3, 4, 5, 6]])
def test_the_interval_holds_the_share_over_other_groups(sizes, icc):
    """How often one loss beats an equal one: 1 half of the time, whatever blocks share."""
    generator, rounds, members = np.random.default_rng(3), 300, blocks_of(sizes)
    of_block = np.repeat(np.arange(len(sizes)), sizes)
    hits = 0
    for _ in range(rounds):
        shared = generator.normal(size=len(sizes))[of_block]
        gaps = np.sqrt(icc) * shared + np.sqrt(1 - icc) * generator.normal(size=len(of_block))
        low, high = interval(gaps > 0, members)
        hits += low <= 0.5 <= high
    assert hits / rounds >= 0.9
