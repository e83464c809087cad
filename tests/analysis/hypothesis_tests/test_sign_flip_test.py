"""Joint sign flips against fractions and loops over all flips."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from podium.analysis.hypothesis_tests.sign_flip_power import sign_flip_power
from podium.analysis.hypothesis_tests.sign_flip_test import fewest_units, sign_flip_test
from tests.soak import soak


def squared(gaps):
    """r^2 of gaps of one pair: t^2 / (1 + t^2), without rounding."""
    total = len(gaps) * sum(gap * gap for gap in gaps)
    return Fraction(sum(gaps) ** 2) / total if total else Fraction(0)


def slow_p(columns, at=0, pair=None):
    """p of each pair at 0, or of one pair at a hypothetical difference, over all flips."""
    units = len(columns[0])
    centred = [[units * gap - sum(column) for gap in column] for column in columns]
    moved = [
        [gap - at for gap in column] if number == pair else column
        for number, column in enumerate(columns)
    ]
    reached = [0] * len(columns)
    for signs in product((1, -1), repeat=units):

        def flipped(gaps, signs=signs):
            return squared([sign * gap for sign, gap in zip(signs, gaps, strict=True)])

        most = [max(map(flipped, both)) for both in zip(columns, centred, strict=True)]
        for j, own in enumerate(moved):
            others = [value for k, value in enumerate(most) if k != j]
            reached[j] += max([flipped(own), *others]) >= squared(own)
    return [count / 2**units for count in reached]


def typed_gaps(seed):
    """Whole gaps of few units, often with ties, as columns of fractions and as an array."""
    generator = np.random.default_rng(seed)
    units, losses = generator.integers(2, 8), generator.integers(2, 5)
    scores = generator.integers(0, generator.choice([3, 6, 50]), size=(units, losses))
    gaps = np.stack([scores[:, a] - scores[:, b] for a, b in combinations(range(losses), 2)], 1)
    return [[Fraction(int(gap)) for gap in column] for column in gaps.T], gaps


@pytest.mark.parametrize("seed", [*range(12), *soak(*range(12, 40))])
def test_p_is_the_share_of_flips_that_reach_as_far(seed):
    columns, gaps = typed_gaps(seed)
    # Tenths are no floats: flips that tie in fractions must tie in spite of rounding.
    expected = np.array(slow_p(columns))
    expected[[len(column) < 3 or len(set(column)) == 1 for column in columns]] = np.nan
    assert sign_flip_test(gaps * 0.1)[0] == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("seed", [0, 1, *soak(*range(2, 30))])
def test_an_interval_ends_where_p_crosses_the_level(seed):
    generator = np.random.default_rng(seed)
    gaps = generator.integers(-30, 60, size=(6, 3))
    columns = [[Fraction(int(gap)) for gap in column] for column in gaps.T]
    _, low, high = sign_flip_test(gaps.astype(float), alpha=0.1)
    for pair in range(3):
        for end, outwards in ((low[pair], -1), (high[pair], 1)):
            inside = Fraction(end) - outwards * Fraction(1, 1000)
            outside = Fraction(end) + outwards * Fraction(1, 1000)
            assert slow_p(columns, inside, pair)[pair] > 0.1
            assert slow_p(columns, outside, pair)[pair] <= 0.1


def test_p_and_interval_never_contradict_each_other():
    generator = np.random.default_rng(0)
    for _ in range(800):
        units, pairs = generator.integers(6, 10), generator.integers(1, 7)
        scale = generator.choice([0.1, 1.0])
        gaps = generator.integers(-4, 8, size=(units, pairs)) * scale
        alpha = generator.choice([0.05, 0.1, 0.2])
        p, low, high = sign_flip_test(gaps, alpha=alpha)
        known = ~np.isnan(low)
        assert (((p <= alpha) == ((low > 0) | (high < 0))) | ~known).all()
        assert (known | np.isnan(p) | (p > alpha)).all()


@pytest.mark.parametrize("losses", [2, 5, 10])
def test_a_clean_sweep_of_six_units_is_found_among_any_number_of_losses(losses):
    scores = np.random.default_rng(0).normal(size=(6, losses)) * 0.01
    scores[:, 0] += 10
    gaps = scores[:, [0]] - scores[:, 1:]
    assert sign_flip_test(gaps)[0] == pytest.approx(np.full(losses - 1, 2 / 2**6))
    assert fewest_units(0.05) == 6
    assert np.isnan(sign_flip_test(gaps[:5])[1]).all()


def test_gaps_without_scatter_have_neither_p_nor_interval():
    almost = 0.1 + 0.2 + np.array([0, 1e-16] * 4)
    assert np.isnan(sign_flip_test(np.column_stack([almost, np.zeros(8), np.full(8, 3)]))).all()
    assert np.isnan(sign_flip_test(np.array([[1.0], [2.0]]))).all()


def test_random_flips_are_near_all_flips_and_the_same_each_time():
    gaps = np.random.default_rng(3).normal(size=(18, 3)) + 0.45
    found = sign_flip_test(gaps)
    assert np.array_equal(found, sign_flip_test(gaps))
    codes = np.arange(2**17)
    flips = np.where((codes[:, None] >> np.arange(18)) & 1, -1.0, 1.0)
    centred = gaps - gaps.mean(axis=0)
    reach = [
        np.maximum(*(abs(flips @ one) / np.linalg.norm(one, axis=0) for one in (gaps, centred)))
    ][0]
    for j in range(3):
        own = abs(flips @ gaps[:, j]) / np.linalg.norm(gaps[:, j])
        most = np.maximum(own, np.delete(reach, j, axis=1).max(axis=1))
        # 100,000 random flips: a standard error of at most 0.0016.
        assert found[0][j] == pytest.approx((most >= own[0] - 1e-12).mean(), abs=0.008)


def test_power_is_that_of_the_test_itself():
    generator = np.random.default_rng(11)
    rounds, found = 500, 0
    for _ in range(rounds):
        scores = generator.normal(size=(8, 4)) * 1.25 / np.sqrt(2)
        scores[:, 0] += 2
        gaps = np.stack([scores[:, a] - scores[:, b] for a, b in combinations(range(4), 2)], 1)
        found += sign_flip_test(gaps)[0][0] <= 0.05
    told = sign_flip_power(
        2.0, num_units=8, num_losses=4, is_against_one=False, difference_std=1.25, alpha=0.05
    )
    # Standard errors of 0.029 and 0.022.
    assert told == pytest.approx(found / rounds, abs=0.1)
