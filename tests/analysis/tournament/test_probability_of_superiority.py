import numpy as np
import pytest
from scipy.special import ndtr

from analysis.tournament.probability_of_superiority import superiorities
from tests.analysis.estimates.slow_grouped_share import blocks_of, slow_interval

NA = np.nan


def pair(runs, sizes=None):
    """The only pair of two competitors; blocks are independent unless groups have sizes."""
    groups = blocks_of(sizes or [1] * len(runs))
    (found,) = superiorities(["a", "b"], [np.array(r, dtype=float) for r in runs], groups)
    return found


def slow_unpaired(a, b):
    return np.mean([(x > y) + (x == y) / 2 for x in a for y in b])


def test_runs_of_one_seed_meet_each_other():
    found = pair([[[3, 1], [1, 2], [5, 5]], [[2, 1], [3, 1], [1, 4]]])
    assert found.estimate == pytest.approx((1.5 / 3 + 2 / 3) / 2)
    assert (found.num_runs, found.is_paired) == (3, True)


def test_a_run_that_one_lacks_is_left_out_of_its_block():
    found = pair([[[3, 1], [NA, 2], [5, 5]], [[2, 1], [3, 1], [1, 4]]])
    assert found.estimate == pytest.approx((1.5 / 2 + 2 / 3) / 2)
    assert found.num_runs == 2


def test_without_a_common_seed_every_run_meets_every_run():
    blocks = [[[3, NA], [1, NA], [NA, 2], [NA, 0], [NA, 3]], [[4, NA], [NA, 1]]]
    found = pair(blocks)
    assert found.estimate == pytest.approx((slow_unpaired([3, 1], [2, 0, 3]) + 1) / 2)
    assert (found.is_paired, found.num_runs) == (False, 1)


@pytest.mark.parametrize("sizes", [[1] * 6, [2] * 6, [1, 2, 3, 1, 2]])
@pytest.mark.parametrize("is_paired", [True, False])
def test_the_interval_is_that_of_leaving_out_groups(is_paired, sizes):
    generator = np.random.default_rng(4)
    runs = [generator.normal([0.5, 0], 1, size=(4, 2)) for _ in range(sum(sizes))]
    if not is_paired:
        gap = np.full(4, NA)
        runs = [np.vstack([np.c_[r[:, 0], gap], np.c_[gap, r[:, 1]]]) for r in runs]
    shares = []
    for block in runs:
        a, b = (column[~np.isnan(column)] for column in block.T)
        shares.append(np.mean(a > b) if is_paired else slow_unpaired(a, b))
    found = pair(runs, sizes)
    assert found.estimate == pytest.approx(np.mean(shares))
    assert (found.low, found.high) == pytest.approx(slow_interval(shares, blocks_of(sizes)))


def test_many_competitors_get_what_each_pair_gets_alone():
    runs = [np.random.default_rng(b).normal(size=(3, 4)) for b in range(8)]
    found = superiorities(list("abcd"), runs, blocks_of([1] * 8))
    assert [(one.a, one.b) for one in found[:3]] == [("a", "b"), ("a", "c"), ("a", "d")]
    alone = pair([block[:, [1, 3]] for block in runs])
    assert (found[4].a, found[4].b) == ("b", "d")
    expected = (alone.estimate, alone.low, alone.high)
    assert (found[4].estimate, found[4].low, found[4].high) == pytest.approx(expected)


def test_a_clean_sweep_is_no_certainty():
    found = pair([[[1, 0]]] * 12)
    assert found.estimate == 1
    # Wilson's interval of 12 of 12 with t of 11 degrees of freedom.
    assert (found.low, found.high) == pytest.approx((12 / (12 + 2.201**2), 1.0), abs=5e-4)
    assert found.is_meaningful
    assert not pair([[[1, 0]]] * 3).is_meaningful


@pytest.mark.parametrize("sizes", [[1], [4], [4, 4, 4, 4]])
def test_fewer_than_five_groups_have_no_interval_and_nothing_is_meaningful(sizes):
    found = pair([[[3, 1], [4, 2], [5, 3]]] * sum(sizes), sizes)
    assert (found.estimate, found.low, found.high) == (1, None, None)
    assert not found.is_meaningful


def test_identical_competitors_are_level():
    found = pair([[[2, 2], [3, 3]]] * 10)
    assert found.estimate == 0.5
    assert not found.is_meaningful


def test_a_small_advantage_is_not_meaningful_however_sure():
    wins = [[[1, 0]]] * 70 + [[[0, 1]]] * 30
    found = pair(wins)
    assert found.low > 0.5
    assert found.estimate == pytest.approx(0.7)
    assert not found.is_meaningful


def test_an_interval_never_excludes_its_estimate():
    generator = np.random.default_rng(5)
    for _ in range(200):
        sizes = generator.integers(1, 4, size=generator.integers(5, 8)).tolist()
        runs = generator.integers(0, 3, size=(sum(sizes), generator.integers(1, 4), 2))
        found = pair(runs, sizes)
        assert 0 <= found.low <= found.estimate <= found.high <= 1


@pytest.mark.parametrize(
    ("gap", "num_runs"), [(0.0, 1), (0.8, 1), (1.6, 1), (0.8, 3), (1.6, 3), (0.3, 5)]
)
def test_the_interval_covers_the_truth(gap, num_runs):
    # Blocks shift the gap with sd 0.5, runs scatter by 1: P(a > b) is known.
    truth = float(ndtr(gap / np.sqrt(0.5**2 + 2)))
    generator = np.random.default_rng(7)
    rounds, hits = 150, 0
    for _ in range(rounds):
        gaps = gap + 0.5 * generator.normal(size=(12, 1))
        a = gaps + generator.normal(size=(12, num_runs))
        b = generator.normal(size=(12, num_runs))
        found = pair(np.stack([a, b], axis=2))
        hits += found.low <= truth <= found.high
    assert hits / rounds >= 0.9


def test_equal_competitors_are_rarely_meaningful():
    generator = np.random.default_rng(8)
    rounds = 200
    found = [pair(generator.normal(size=(12, 3, 2))) for _ in range(rounds)]
    assert sum(one.is_meaningful for one in found) / rounds <= 0.05
