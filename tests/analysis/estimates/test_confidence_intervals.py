import numpy as np
import pytest
from scipy import stats

from podium.analysis.estimates.confidence_intervals import (
    class_bootstrap,
    grouped_interval,
    t_interval,
)


def test_a_t_interval_equals_that_of_scipy():
    values = [0.61, 0.64, 0.6, 0.66]
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    interval = t_interval(values)
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))
    assert interval.estimate == pytest.approx(np.mean(values))
    assert interval.standard_error == pytest.approx(stats.sem(values))
    assert interval.num == 4


def test_one_seed_has_no_interval_not_one_of_width_zero():
    interval = t_interval([0.6])
    assert (interval.estimate, interval.num) == (0.6, 1)
    assert (interval.low, interval.high, interval.standard_error) == (None, None, None)


def test_two_seeds_have_an_error_and_no_interval():
    interval = t_interval([0.6, 0.7])
    assert interval.standard_error == pytest.approx(0.05)
    assert (interval.low, interval.high) == (None, None)


@pytest.mark.parametrize("hits", [[3], [3, 3], [3, 3, 3, 3]])
def test_classes_that_are_few_or_alike_have_no_interval(hits):
    interval = class_bootstrap(np.array(hits), np.full(len(hits), 4))
    assert interval.estimate == 0.75
    assert (interval.low, interval.high, interval.standard_error) == (None, None, None)


def test_values_that_agree_have_no_interval():
    for values in ([0.1 + 0.2, 0.3, 0.3], [5.0] * 9, [0.0] * 4):
        assert (t_interval(values).low, t_interval(values).high) == (None, None)
    assert grouped_interval([1.0, 2.0] * 3, "aabbcc").low is None
    assert t_interval([0.3, 0.3, 0.3001]).low is not None


def slow_class_bootstrap(hits, queries, replicates, seed):
    generator = np.random.default_rng(seed)
    recalls = []
    for _ in range(replicates):
        drawn = generator.choice(len(hits), size=len(hits))
        recalls.append(sum(hits[c] for c in drawn) / sum(queries[c] for c in drawn))
    return np.array(recalls)


def classes(seed, num_classes=40):
    generator = np.random.default_rng(seed)
    queries = generator.integers(5, 30, size=num_classes)
    return generator.binomial(queries, generator.beta(4, 2, size=num_classes)), queries


def test_the_class_bootstrap_equals_a_slow_one():
    hits, queries = classes(0)
    slow = slow_class_bootstrap(hits, queries, replicates=4_000, seed=1)
    fast = class_bootstrap(hits, queries, replicates=8_000)
    assert fast.estimate == hits.sum() / queries.sum()
    assert (fast.low, fast.high) == pytest.approx(np.percentile(slow, [2.5, 97.5]), abs=0.006)
    assert fast.standard_error == pytest.approx(slow.std(ddof=1), rel=0.08)


def test_equal_seeds_give_equal_intervals():
    hits, queries = classes(4)
    assert class_bootstrap(hits, queries, seed=5) == class_bootstrap(hits, queries, seed=5)
    assert class_bootstrap(hits, queries, seed=5) != class_bootstrap(hits, queries, seed=6)


def test_of_groups_of_one_size_the_interval_is_that_of_their_means():
    values = np.random.default_rng(0).normal(size=(5, 3))
    groups = [number for number in range(5) for _ in range(3)]
    found = grouped_interval(values.ravel().tolist(), groups)
    expected = t_interval(values.mean(axis=1).tolist())

    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert (found.estimate, found.num) == (pytest.approx(expected.estimate), 5)


def test_values_that_are_groups_of_their_own_keep_their_interval():
    values = [1.0, 2.0, 4.0]
    assert grouped_interval(values, "abc") == t_interval(values)


def test_values_of_one_or_two_groups_have_no_interval():
    for groups in ("aaaa", "aabb"):
        found = grouped_interval([1.0, 2.0, 4.0, 6.0], groups)
        assert (found.estimate, found.low, found.high) == (3.25, None, None)
