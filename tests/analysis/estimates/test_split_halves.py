import math
from itertools import combinations

import numpy as np
import pytest

from podium.analysis.estimates.split_halves import all_halves, half_means, other_half, top_shares


@pytest.mark.parametrize("num", [2, 3, 4, 5, 6, 7])
def test_few_units_are_halved_in_every_way_once(num):
    halves = all_halves(num, most=100, seed=0)
    sides = {tuple(np.flatnonzero(row)) for row in halves}
    sizes = {num // 2, num - num // 2}
    assert sides == {side for size in sizes for side in combinations(range(num), size)}
    assert len(sides) == len(halves) == sum(math.comb(num, size) for size in sizes)


@pytest.mark.parametrize("num", [2, 5, 8, 31])
def test_each_half_comes_with_its_complement(num):
    halves = all_halves(num, most=40, seed=3)
    assert (other_half(halves[None])[0] == ~halves).all()
    assert len(halves) <= 40
    assert np.abs(halves.sum(axis=1) - num / 2).max() <= 0.5


def test_drawn_halves_follow_from_the_seed():
    assert (all_halves(20, most=10, seed=1) == all_halves(20, most=10, seed=1)).all()
    assert (all_halves(20, most=10, seed=1) != all_halves(20, most=10, seed=2)).any()


def test_means_weigh_each_unit_within_its_half():
    scores = np.array([[1.0, 2.0, 4.0], [0.0, 1.0, 1.0]])
    halves = np.array([[True, True, False], [False, False, True]])
    means = half_means(scores, halves, np.array([[1.0, 3.0, 1.0], [1.0, 2.0, 0.0]]))
    assert means[0].tolist() == [[1.75, 0.75], [4.0, 1.0]]
    assert np.isnan(means[1, 1]).all()


def test_the_best_share_the_first_place():
    assert top_shares(np.array([1.0, 3.0, 3.0])).tolist() == [0, 0.5, 0.5]
    assert np.isnan(top_shares(np.array([1.0, np.nan]))).all()
