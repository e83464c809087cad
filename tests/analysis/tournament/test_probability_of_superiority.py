import numpy as np
import pytest
from scipy.special import ndtr
from statsmodels.stats.proportion import proportion_confint

from analysis.tournament.probability_of_superiority import superiorities

NA = np.nan


def pair(runs, **options):
    (found,) = superiorities(["a", "b"], [np.array(r, dtype=float) for r in runs], **options)
    return found


def slow_unpaired(a, b):
    return np.mean([(x > y) + (x == y) / 2 for x in a for y in b])


def test_runs_of_one_seed_meet_each_other():
    found = pair([[[3, 1], [1, 2], [5, 5]], [[2, 1], [3, 1], [1, 4]]])
    assert found.estimate == pytest.approx((1.5 / 3 + 2 / 3) / 2)
    assert (found.num_blocks, found.num_runs, found.is_paired) == (2, 3, True)


def test_a_run_that_one_lacks_is_left_out_of_its_block():
    found = pair([[[3, 1], [NA, 2], [5, 5]], [[2, 1], [3, 1], [1, 4]]])
    assert found.estimate == pytest.approx((1.5 / 2 + 2 / 3) / 2)
    assert found.num_runs == 2


def test_without_a_common_seed_every_run_meets_every_run():
    blocks = [[[3, NA], [1, NA], [NA, 2], [NA, 0], [NA, 3]], [[4, NA], [NA, 1]]]
    found = pair(blocks)
    assert found.estimate == pytest.approx((slow_unpaired([3, 1], [2, 0, 3]) + 1) / 2)
    assert (found.is_paired, found.num_runs) == (False, 1)


@pytest.mark.parametrize("is_paired", [True, False])
def test_the_interval_is_as_wide_as_drawing_blocks_and_then_their_runs(is_paired):
    generator = np.random.default_rng(4)
    runs = [generator.normal([0.5, 0], 1, size=(4, 2)) for _ in range(6)]
    if not is_paired:
        gap = np.full(4, NA)
        runs = [np.vstack([np.c_[r[:, 0], gap], np.c_[gap, r[:, 1]]]) for r in runs]
    estimates = []
    for _ in range(3_000):
        blocks = []
        for block in generator.integers(6, size=6):
            a, b = (column[~np.isnan(column)] for column in runs[block].T)
            drawn = generator.integers(4, size=4)
            others = drawn if is_paired else generator.integers(4, size=4)
            wins = a[drawn] > b[others] if is_paired else a[drawn][:, None] > b[others]
            blocks.append(np.mean(wins))
        estimates.append(np.mean(blocks))
    found = pair(runs, replicates=4_000)
    size = found.estimate * (1 - found.estimate) / (np.var(estimates) * 6 / 5)
    expected = proportion_confint(found.estimate * size, size, method="wilson")
    assert (found.low, found.high) == pytest.approx(expected, abs=0.02)


def test_many_competitors_get_what_each_pair_gets_alone():
    runs = [np.random.default_rng(b).normal(size=(3, 4)) for b in range(8)]
    found = superiorities(list("abcd"), runs)
    assert [(one.a, one.b) for one in found[:3]] == [("a", "b"), ("a", "c"), ("a", "d")]
    alone = pair([block[:, [1, 3]] for block in runs])
    assert found[4].estimate == pytest.approx(alone.estimate)
    assert (found[4].low, found[4].high) == pytest.approx((alone.low, alone.high), abs=0.06)


def test_one_run_draws_blocks_only_and_a_clean_sweep_is_no_certainty():
    found = pair([[[1, 0]]] * 12)
    assert found.estimate == 1
    # Wilson's interval of 12 of 12.
    assert (found.low, found.high) == pytest.approx((0.7575, 1.0), abs=5e-4)
    assert found.is_meaningful
    assert not pair([[[1, 0]]] * 3).is_meaningful


def test_one_block_has_no_interval_and_nothing_is_meaningful():
    found = pair([[[3, 1], [4, 2], [5, 3]]])
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


def test_the_same_seed_gives_the_same_interval():
    runs = [np.random.default_rng(b).normal(size=(3, 2)) for b in range(5)]
    assert pair(runs) == pair(runs)


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
        found = pair(np.stack([a, b], axis=2), replicates=500)
        hits += found.low <= truth <= found.high
    assert hits / rounds >= 0.9


def test_equal_competitors_are_rarely_meaningful():
    generator = np.random.default_rng(8)
    rounds = 200
    found = [pair(generator.normal(size=(12, 3, 2)), replicates=300) for _ in range(rounds)]
    assert sum(one.is_meaningful for one in found) / rounds <= 0.05
