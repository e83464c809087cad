import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import trim_mean

from analysis.tournament.interquartile_means import interquartile_means

NA = np.nan


def means(runs, names="abc", **options):
    return interquartile_means(names, [np.array(block, dtype=float) for block in runs], **options)


def slow_trimmed_mean(runs, competitor):
    """scipy's trimmed mean of every run minus the median of its block's means."""
    values = []
    for block in runs:
        block = np.array(block, dtype=float)
        middle = np.median([np.mean(column[~np.isnan(column)]) for column in block.T])
        values += [score - middle for score in block[:, competitor] if not np.isnan(score)]
    return trim_mean(values, 0.25)


@given(st.integers(0, 10**6), st.integers(8, 11), st.integers(1, 4))
def test_the_mean_is_scipys_trimmed_mean_around_block_medians(seed, num_blocks, num_runs):
    generator = np.random.default_rng(seed)
    runs = generator.normal(size=(num_blocks, num_runs, 3)) + 30 * generator.random(
        (num_blocks, 1, 1)
    )
    for c, found in enumerate(means(runs, replicates=20)):
        assert found.estimate == pytest.approx(slow_trimmed_mean(runs, c))
        assert found.num_values == num_blocks * num_runs


def test_holes_and_ties_are_no_obstacle():
    generator = np.random.default_rng(1)
    runs = generator.integers(4, size=(6, 4, 3)).astype(float)
    runs[2, 1, 0] = runs[4, 0, 0] = NA
    found = means(runs)
    assert [one.estimate for one in found] == pytest.approx(
        [slow_trimmed_mean(runs, c) for c in range(3)]
    )
    assert [one.num_values for one in found] == [22, 24, 24]


def test_the_level_of_a_block_does_not_matter():
    runs = np.random.default_rng(2).normal(size=(5, 3, 3))
    moved = runs + np.arange(5)[:, None, None] * 20
    for one, other in zip(means(runs), means(moved), strict=True):
        assert one.estimate == pytest.approx(other.estimate)
        assert (one.low, one.high) == pytest.approx((other.low, other.high))


def test_seven_values_are_too_few():
    found = means(np.random.default_rng(3).normal(size=(7, 1, 3)))
    assert {one.estimate for one in found} == {None}
    assert means(np.random.default_rng(3).normal(size=(8, 1, 3)))[0].estimate is not None


def test_two_runs_in_one_block_leave_no_interval():
    runs = np.random.default_rng(4).normal(size=(9, 3, 3))
    runs[5, 0, 1] = NA
    a, b, c = means(runs)
    assert (b.low, b.high) == (None, None)
    assert b.estimate is not None
    assert None not in (a.low, a.high, c.low, c.high)


def test_one_outlier_changes_little():
    runs = np.random.default_rng(5).normal(size=(8, 3, 3))
    wild = runs.copy()
    wild[0, 0, 0] = -500
    before, after = means(runs)[0].estimate, means(wild)[0].estimate
    assert abs(after - before) < 0.5


def test_the_same_seed_gives_the_same_interval():
    runs = np.random.default_rng(6).normal(size=(8, 3, 3))
    assert means(runs) == means(runs)
    assert means(runs, seed=1) != means(runs)


@pytest.mark.parametrize("num_runs", [3, 5])
def test_the_interval_covers_the_mean_of_many_more_runs(num_runs):
    generator = np.random.default_rng(9)
    levels = generator.normal(scale=10, size=(12, 1, 1))
    gaps = np.array([1.0, 0.0, -1.0]) + 0.4 * generator.normal(size=(12, 1, 3))
    truth = means(levels + gaps + generator.normal(size=(12, 4_000, 3)), replicates=1)
    rounds, hits = 120, 0
    for _ in range(rounds):
        found = means(levels + gaps + generator.normal(size=(12, num_runs, 3)), replicates=300)
        hits += sum(
            one.low <= true.estimate <= one.high for one, true in zip(found, truth, strict=True)
        )
    assert hits / (3 * rounds) >= 0.9
